import type { Usage } from "./usage.ts";

/** Why the usage that a provider reported is not billed as it was reported. */
export type CorrectionReason =
  /** No tokens of a prompt. */
  | "prompt_missing"
  /** A longer prompt than the model takes. */
  | "prompt_above_context"
  /** Too few generated tokens for the text that came. */
  | "output_below_text"
  /** More generated tokens than the request and the model allow, or than can be in the text that came. */
  | "output_above_limit";

/** What a provider reported, where that cannot be true and something else is billed. */
export interface CorrectedUsage {
  reported: Usage;
  reasons: readonly CorrectionReason[];
}
