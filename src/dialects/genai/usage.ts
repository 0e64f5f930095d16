import { arrayAt, isObject, type JsonObject, objectAt } from "../../canon/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";

/** `promptTokenCount` includes cached tokens, not those of tool use; `candidatesTokenCount` excludes thoughts. */
export function decodeUsage(answer: unknown): Usage | undefined {
  const raw = objectAt(answer, "usageMetadata");
  const prompt = countAt(raw, "promptTokenCount");
  if (prompt === undefined) return undefined;
  const cacheRead = countAt(raw, "cachedContentTokenCount");
  const reasoning = countAt(raw, "thoughtsTokenCount");
  const searches = searchQueries(answer);
  const generated = countAt(raw, "candidatesTokenCount") ?? 0;
  const imageOutput = Math.min(generated, pictureTokens(raw, "candidatesTokensDetails"));
  return {
    input: Math.max(0, prompt - (cacheRead ?? 0)) + (countAt(raw, "toolUsePromptTokenCount") ?? 0),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    output: generated - imageOutput,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(imageOutput > 0 ? { imageOutput } : {}),
    ...(searches ? { searches } : {}),
  };
}

/** The sums are those of the usage that is billed; this protocol has no count of what was written to a cache. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheRead, reasoning, output, imageOutput = 0 } = usage;
  const prompt = promptTokens(usage);
  return {
    promptTokenCount: prompt,
    ...(cacheRead === undefined ? {} : { cachedContentTokenCount: cacheRead }),
    ...(output === undefined ? {} : { candidatesTokenCount: output + imageOutput }),
    ...(imageOutput > 0 ? { candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: imageOutput }] } : {}),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + completionTokens(usage),
  };
}

/** Pictures that were generated are counted, and priced, apart; those of a prompt are priced as its text is. */
function pictureTokens(raw: JsonObject | undefined, details: string): number {
  const pictures = arrayAt(raw, details).find((detail) => isObject(detail) && detail["modality"] === "IMAGE");
  return countAt(pictures, "tokenCount") ?? 0;
}

/** Searches are not in the usage: the grounding of the answer lists the queries that were made. */
export function searchQueries(answer: unknown): number {
  return arrayAt(answer, "candidates").reduce<number>((count, candidate) => {
    const grounding = isObject(candidate) ? candidate["groundingMetadata"] : undefined;
    return count + queriesIn(grounding);
  }, 0);
}

/** Empty queries are listed, and are no searches. */
export const queriesIn = (grounding: unknown): number =>
  arrayAt(grounding, "webSearchQueries").filter((query) => query !== "").length;
