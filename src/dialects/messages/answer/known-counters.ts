import type { KnownCounters } from "../../answer/unknown-counters.ts";

const TOKENS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation.ephemeral_5m_input_tokens",
  "cache_creation.ephemeral_1h_input_tokens",
  "output_tokens_details.thinking_tokens",
];

/** Every number in `usage` that the decoder counts or that is known to add nothing to a bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [...TOKENS, ...TOKENS.map((counter) => `iterations.${counter}`)],
  others: [
    // Tool uses, which are priced separately.
    "server_tool_use",
  ],
};
