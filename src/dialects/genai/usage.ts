import { arrayAt, isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { reportTerms, type ServedOn } from "../../canon/terms.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";
import { unknownCounters } from "../unknown-counters.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/** `promptTokenCount` includes cached tokens, not those of tool use; `candidatesTokenCount` excludes thoughts. */
export function decodeUsage(answer: unknown): Usage | undefined {
  const raw = objectAt(answer, "usageMetadata");
  const prompt = countAt(raw, "promptTokenCount");
  if (prompt === undefined || raw === undefined) return undefined;
  const cacheRead = countAt(raw, "cachedContentTokenCount");
  const reasoning = countAt(raw, "thoughtsTokenCount");
  const searches = searchQueries(answer);
  const unknown = unknownCounters("usageMetadata", raw, KNOWN_COUNTERS);
  const generated = countAt(raw, "candidatesTokenCount") ?? 0;
  const imageOutput = Math.min(generated, tokensOf(raw, "candidatesTokensDetails", "IMAGE"));
  const audioOutput = Math.min(generated - imageOutput, tokensOf(raw, "candidatesTokensDetails", "AUDIO"));
  const uncached = prompt - (cacheRead ?? 0);
  const audio = tokensOf(raw, "promptTokensDetails", "AUDIO") - tokensOf(raw, "cacheTokensDetails", "AUDIO");
  const audioInput = Math.min(Math.max(0, audio), Math.max(0, uncached));
  const toolUse = countAt(raw, "toolUsePromptTokenCount") ?? 0;
  return {
    // More from a cache than there was: in addition to the prompt, if at all.
    ...(uncached < 0
      ? { input: prompt + toolUse, doubtful: true as const }
      : { input: uncached - audioInput + toolUse }),
    ...(audioInput > 0 ? { audioInput } : {}),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    output: generated - imageOutput - audioOutput,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(imageOutput > 0 ? { imageOutput } : {}),
    ...(audioOutput > 0 ? { audioOutput } : {}),
    ...(searches ? { searches } : {}),
    ...(unknown === undefined ? {} : { unknown }),
  };
}

/** On which terms the usage says that the answer was served. */
export function reportUsageTerms(served: ServedOn | undefined, answer: JsonObject): void {
  const raw = objectAt(answer, "usageMetadata");
  reportTerms(served, raw?.["serviceTier"], raw?.["trafficType"]);
}

/** The sums are those of the usage that is billed; this protocol has no count of what was written to a cache. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheRead, reasoning, output, audioInput = 0, imageOutput = 0, audioOutput = 0 } = usage;
  const details = [
    ...(imageOutput > 0 ? [{ modality: "IMAGE", tokenCount: imageOutput }] : []),
    ...(audioOutput > 0 ? [{ modality: "AUDIO", tokenCount: audioOutput }] : []),
  ];
  const prompt = promptTokens(usage);
  return {
    promptTokenCount: prompt,
    ...(audioInput > 0 ? { promptTokensDetails: [{ modality: "AUDIO", tokenCount: audioInput }] } : {}),
    ...(cacheRead === undefined ? {} : { cachedContentTokenCount: cacheRead }),
    ...(output === undefined ? {} : { candidatesTokenCount: output + imageOutput + audioOutput }),
    ...(details.length > 0 ? { candidatesTokensDetails: details } : {}),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + completionTokens(usage),
  };
}

/** Images and sound that were generated, and sound in a prompt, are priced apart; images of a prompt are priced as its text is. */
function tokensOf(raw: JsonObject | undefined, details: string, modality: "IMAGE" | "AUDIO"): number {
  const found = arrayAt(raw, details).find((detail) => isObject(detail) && detail["modality"] === modality);
  return countAt(found, "tokenCount") ?? 0;
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
