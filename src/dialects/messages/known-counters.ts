const TOKENS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation.ephemeral_5m_input_tokens",
  "cache_creation.ephemeral_1h_input_tokens",
  "output_tokens_details.thinking_tokens",
];

/** Every number in `usage` that the reader of this dialect counts, or that is known to add nothing to a bill. */
export const KNOWN_COUNTERS: ReadonlySet<string> = new Set([
  ...TOKENS,
  ...TOKENS.map((counter) => `iterations.${counter}`),
  "server_tool_use.web_search_requests",
  // Costs nothing but the tokens that it brings into the prompt.
  "server_tool_use.web_fetch_requests",
]);
