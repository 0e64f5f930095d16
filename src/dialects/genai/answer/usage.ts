import { arrayAt, isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { reportModel, reportTerms, type ServedOn } from "../../../canon/terms.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../../canon/usage.ts";
import { generatedTokens } from "../../answer/generated-tokens.ts";
import { unknownCounters } from "../../answer/unknown-counters.ts";
import { promptCounts } from "../../request/prompt-counts.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/** The counts of a response, as the vendor's protocols divide them. */
export interface ReportedCounts {
  /** All of the prompt, cached or not, without what hosted tools added to it. */
  prompt: number;
  cached: number | undefined;
  toolUse: number | undefined;
  /** What was generated besides thoughts. */
  completion: number | undefined;
  reasoning: number | undefined;
  total: number | undefined;
  /** Audio in the prompt that was not cached. */
  audioPrompt: number;
  imageOutput: number;
  audioOutput: number;
}

/**
 * Counts of 0 are omitted, so only the total shows whether a missing count is known. A total larger than its parts counts as generated
 * (H27).
 */
export function usageOfCounts(counts: ReportedCounts): Usage {
  const { prompt, cached, toolUse = 0, completion, reasoning, total, audioPrompt, imageOutput, audioOutput } = counts;
  const usage: Usage = promptCounts({
    prompt,
    cacheRead: cached,
    audio: audioPrompt,
    leftByTotal: total === undefined ? undefined : total - toolUse - (completion ?? 0) - (reasoning ?? 0),
  });
  usage.input = (usage.input ?? 0) + toolUse;
  // Tool results were read in another call of the model.
  if (toolUse > 0) usage.rounds = 2;
  const behindPrompt = (total ?? 0) - promptTokens(usage);
  const generated = generatedTokens({ completion, reasoning, behindPrompt, reasoningBeside: true });
  if (generated !== undefined || total !== undefined) {
    const { said = 0, thought } = generated ?? {};
    const images = Math.min(said, imageOutput);
    const sound = Math.min(said - images, audioOutput);
    usage.output = said - images - sound;
    if (thought !== undefined) usage.reasoning = thought;
    if (images > 0) usage.imageOutput = images;
    if (sound > 0) usage.audioOutput = sound;
  }
  return usage;
}

/** `promptTokenCount` includes cached tokens but not tool-use tokens; `candidatesTokenCount` excludes thoughts. */
export function decodeUsage(answer: unknown): Usage | undefined {
  const raw = objectAt(answer, "usageMetadata");
  const prompt = countAt(raw, "promptTokenCount");
  if (prompt === undefined || raw === undefined) return undefined;
  const usage = usageOfCounts({
    prompt,
    cached: countAt(raw, "cachedContentTokenCount"),
    toolUse: countAt(raw, "toolUsePromptTokenCount"),
    completion: countAt(raw, "candidatesTokenCount") ?? countAt(raw, "responseTokenCount"),
    reasoning: countAt(raw, "thoughtsTokenCount"),
    total: countAt(raw, "totalTokenCount"),
    audioPrompt: tokensOf(raw, "promptTokensDetails", "AUDIO") - tokensOf(raw, "cacheTokensDetails", "AUDIO"),
    imageOutput: tokensOf(raw, "candidatesTokensDetails", "IMAGE"),
    audioOutput: tokensOf(raw, "candidatesTokensDetails", "AUDIO"),
  });
  const cachedAudio = tokensOf(raw, "cacheTokensDetails", "AUDIO");
  if (cachedAudio > 0) usage.cached = { audio: cachedAudio };
  const searches = searchQueries(answer);
  if (searches) usage.searches = searches;
  const unknown = unknownCounters("usageMetadata", raw, KNOWN_COUNTERS);
  if (unknown !== undefined) usage.unknown = unknown;
  return usage;
}

/** Reports the terms on which the response was served, according to its usage, and the model that it names. */
export function reportUsageTerms(served: ServedOn | undefined, answer: JsonObject): void {
  const raw = objectAt(answer, "usageMetadata");
  reportModel(served, answer["modelVersion"]);
  reportTerms(served, raw?.["serviceTier"], raw?.["trafficType"]);
}

/** The sums equal the billed usage. This protocol has no count of cache writes. */
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

/** Generated images and audio, and audio in the prompt, have separate prices. Images in the prompt are priced as text. */
function tokensOf(raw: JsonObject | undefined, details: string, modality: "IMAGE" | "AUDIO"): number {
  const found = arrayAt(raw, details).find((detail) => isObject(detail) && detail["modality"] === modality);
  return countAt(found, "tokenCount") ?? 0;
}

/** The usage does not include searches: the grounding of the response lists the queries. */
export function searchQueries(answer: unknown): number {
  return arrayAt(answer, "candidates").reduce<number>((count, candidate) => {
    const grounding = isObject(candidate) ? candidate["groundingMetadata"] : undefined;
    return count + queriesIn(grounding);
  }, 0);
}

/** Empty queries are listed but are not searches. Image queries have a separate list. */
export const queriesIn = (grounding: unknown): number =>
  [...arrayAt(grounding, "webSearchQueries"), ...arrayAt(grounding, "imageSearchQueries")].filter(
    (query) => query !== "",
  ).length;
