import type { Usage } from "./usage.ts";

/** Why the usage reported by a provider is not billed as is. */
export type CorrectionReason =
  /** No prompt tokens. */
  | "prompt_missing"
  /** A longer prompt than the model's context. */
  | "prompt_above_context"
  /** Too few output tokens for the received text. */
  | "output_below_text"
  /** More output tokens than the request and the model allow, or than the received text can have. */
  | "output_above_limit";

/** A reported usage that cannot be correct, so that something else is billed. */
export interface CorrectedUsage {
  reported: Usage;
  reasons: readonly CorrectionReason[];
}
