import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import type { EmbeddingInput } from "./embedding-call.ts";

/** Estimates the tokens of inputs; exact if they are given as tokens. */
export function estimateInputs(inputs: readonly EmbeddingInput[]): number {
  return inputs.reduce((sum, { content }) => sum + estimateInput(content), 0);
}
