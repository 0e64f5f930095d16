import { arrayAt, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { textWeight } from "../../base/text-weight.ts";
import type { Usage } from "../../canon/usage.ts";
import { estimateTokens, tokensOfCharacters } from "../reading/estimate-tokens.ts";

export const estimateResponsesTokens = (body: JsonObject, surplusBytes?: number): number =>
  estimateTokens([body["instructions"], body["input"], body["tools"], objectAt(body["text"], "format")], surplusBytes);

/** The reported usage, completed with estimates (R2). */
export const usageWithEstimates = (
  reported: Usage | undefined,
  estimateInput: () => number,
  characters: number,
): Usage => ({
  ...reported,
  input: reported?.input ?? estimateInput(),
  output: reported?.output ?? tokensOfCharacters(characters),
});

/** The weight of the text in an item. */
export function itemWeight(item: unknown): number {
  let weight = textWeight(stringAt(item, "arguments") ?? stringAt(item, "input") ?? "");
  for (const part of [...arrayAt(item, "content"), ...arrayAt(item, "summary")])
    weight += textWeight(stringAt(part, "text") ?? stringAt(part, "refusal") ?? "");
  return weight;
}
