import type { JsonObject } from "../../base/json.ts";
import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";

const TOKENS = ["input", "imageInput", "cacheRead", "output", "imageOutput", "reasoning"] as const;

/** The tokens of an answer (contract 2.14); undefined if the provider counted none. */
export function encodeImageUsage(usage: Usage | undefined): JsonObject | undefined {
  if (usage === undefined || TOKENS.every((counter) => usage[counter] === undefined)) return undefined;
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  const images = usage.imageInput ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { image_tokens: images, text_tokens: input - images },
    output_tokens: output,
    total_tokens: input + output,
  };
}
