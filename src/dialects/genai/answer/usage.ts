import { arrayAt, isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { reportTerms, type ServedOn } from "../../../canon/terms.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../../canon/usage.ts";
import { generatedTokens } from "../../answer/generated-tokens.ts";
import { unknownCounters } from "../../answer/unknown-counters.ts";
import { promptCounts } from "../../request/prompt-counts.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/**
 * `promptTokenCount` includes cached tokens, not those of tool use; `candidatesTokenCount` excludes thoughts. Counts of 0 are
 * left out, so that only the total tells whether a missing one is known. A total beyond its parts was generated (H27).
 */
export function decodeUsage(answer: unknown): Usage | undefined {
  const raw = objectAt(answer, "usageMetadata");
  const prompt = countAt(raw, "promptTokenCount");
  if (prompt === undefined || raw === undefined) return undefined;
  const total = countAt(raw, "totalTokenCount");
  const toolUse = countAt(raw, "toolUsePromptTokenCount") ?? 0;
  const completion = countAt(raw, "candidatesTokenCount") ?? countAt(raw, "responseTokenCount");
  const reasoning = countAt(raw, "thoughtsTokenCount");
  const usage: Usage = promptCounts({
    prompt,
    cacheRead: countAt(raw, "cachedContentTokenCount"),
    audio: tokensOf(raw, "promptTokensDetails", "AUDIO") - tokensOf(raw, "cacheTokensDetails", "AUDIO"),
    leftByTotal: total === undefined ? undefined : total - toolUse - (completion ?? 0) - (reasoning ?? 0),
  });
  usage.input = (usage.input ?? 0) + toolUse;
  // What a tool gave was read in another call of the model.
  if (toolUse > 0) usage.rounds = 2;
  const behindPrompt = (total ?? 0) - promptTokens(usage);
  const generated = generatedTokens({ completion, reasoning, behindPrompt, reasoningBeside: true });
  if (generated !== undefined || total !== undefined) {
    const { said = 0, thought } = generated ?? {};
    const images = Math.min(said, tokensOf(raw, "candidatesTokensDetails", "IMAGE"));
    const sound = Math.min(said - images, tokensOf(raw, "candidatesTokensDetails", "AUDIO"));
    usage.output = said - images - sound;
    if (thought !== undefined) usage.reasoning = thought;
    if (images > 0) usage.imageOutput = images;
    if (sound > 0) usage.audioOutput = sound;
  }
  const searches = searchQueries(answer);
  if (searches) usage.searches = searches;
  const unknown = unknownCounters("usageMetadata", raw, KNOWN_COUNTERS);
  if (unknown !== undefined) usage.unknown = unknown;
  return usage;
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

/** Empty queries are listed, and are no searches. Those for images have a list of their own. */
export const queriesIn = (grounding: unknown): number =>
  [...arrayAt(grounding, "webSearchQueries"), ...arrayAt(grounding, "imageSearchQueries")].filter(
    (query) => query !== "",
  ).length;

/** How often an answer, or a chunk of one, shows the result of code that the host ran. */
export const codeRuns = (answer: unknown): number =>
  arrayAt(answer, "candidates").reduce<number>((count, candidate) => {
    const parts = arrayAt(objectAt(candidate, "content"), "parts");
    return count + parts.filter((part) => objectAt(part, "codeExecutionResult") !== undefined).length;
  }, 0);

/** After each search, and each run of code, the host called the model again. */
export const withCodeRuns = (usage: Usage, runs: number): Usage =>
  runs === 0 ? usage : { ...usage, rounds: Math.max(usage.rounds ?? 1, runs + (usage.searches ?? 0) + 1) };
