/** Where a provider's wire differs from the dialect it speaks. Data with defaults, never a provider's name in a branch. */
export interface Quirks {
  /** chat: the name under which the host takes the output limit. */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /** chat: how the host takes the `reasoning` object of the contract: as it is, or as `reasoning_effort`. */
  reasoningField: "reasoning" | "reasoning_effort";
  /** chat: whether assistant messages may carry their reasoning back; hosts that refuse unknown fields must not see it. */
  reasoningHistory: "keep" | "drop";
  /** chat: ask for the usage chunk in streams, which the ledger needs. Hosts that always send it need no asking. */
  askStreamUsage: boolean;
  /** messages: pass the client's beta names on. */
  forwardBetas: boolean;
  /** genai: whether the host takes `labels`. */
  labels: boolean;
}

export const DEFAULT_QUIRKS: Quirks = {
  maxTokensField: "max_completion_tokens",
  reasoningField: "reasoning_effort",
  reasoningHistory: "drop",
  askStreamUsage: true,
  forwardBetas: false,
  labels: true,
};
