import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import type { EmbeddingInput } from "./embedding-call.ts";

/** The tokens of inputs, about; where they are given as tokens, exactly. */
export function estimateInputs(inputs: readonly EmbeddingInput[]): number {
  return inputs.reduce((sum, { content }) => sum + estimateInput(content), 0);
}
