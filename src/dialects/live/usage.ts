import { arrayAt, isObject, type JsonObject } from "../../base/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";
import { unknownCounters } from "../answer/unknown-counters.ts";
import { KNOWN_COUNTERS } from "../genai/answer/known-counters.ts";

type Counts = Readonly<Record<"text" | "audio" | "image", number>>;

/** Video is billed as images are, and documents as text. */
const GROUP: ReadonlyMap<unknown, keyof Counts> = new Map([
  ["AUDIO", "audio"],
  ["IMAGE", "image"],
  ["VIDEO", "image"],
] as const);

function countsAt(raw: JsonObject, key: string): Counts {
  const counts = { text: 0, audio: 0, image: 0 };
  for (const detail of arrayAt(raw, key)) {
    const group = GROUP.get(isObject(detail) ? detail["modality"] : undefined) ?? "text";
    counts[group] += countAt(detail, "tokenCount") ?? 0;
  }
  return counts;
}

/**
 * The usage of a turn. The prompt includes what was cached, by modality if the host says so. What the details leave of a count is text, and
 * a total larger than its parts was generated (H27, H36).
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined;
  const prompt = countAt(raw, "promptTokenCount");
  const response = countAt(raw, "responseTokenCount") ?? countAt(raw, "candidatesTokenCount");
  const total = countAt(raw, "totalTokenCount");
  if (prompt === undefined && response === undefined && total === undefined) return undefined;
  const details = countsAt(raw, "promptTokensDetails");
  const cachedDetails = countsAt(raw, "cacheTokensDetails");
  const cacheRead = countAt(raw, "cachedContentTokenCount") ?? 0;
  const text = Math.max(details.text, (prompt ?? 0) - details.audio - details.image);
  const isDivided = cachedDetails.audio + cachedDetails.image + cachedDetails.text > 0;
  // Neither was more than all that was cached.
  const cachedAudio = Math.min(
    details.audio,
    cacheRead,
    isDivided ? cachedDetails.audio : Math.max(0, cacheRead - text),
  );
  const cachedImage = Math.min(
    details.image,
    cacheRead - cachedAudio,
    isDivided ? cachedDetails.image : Math.max(0, cacheRead - text - details.audio),
  );
  const toolUse = countAt(raw, "toolUsePromptTokenCount") ?? 0;
  const usage: Usage = { input: Math.max(0, text - Math.max(0, cacheRead - cachedAudio - cachedImage)) + toolUse };
  if (details.audio > cachedAudio) usage.audioInput = details.audio - cachedAudio;
  if (details.image > cachedImage) usage.imageInput = details.image - cachedImage;
  if (cacheRead > 0) usage.cacheRead = cacheRead;
  if (cachedAudio + cachedImage > 0) usage.cached = { audio: cachedAudio, image: cachedImage };
  const thoughts = countAt(raw, "thoughtsTokenCount") ?? 0;
  const generated = addCounts(countsAt(raw, "responseTokensDetails"), countsAt(raw, "candidatesTokensDetails"));
  const media = generated.audio + generated.image;
  usage.output = Math.max(
    generated.text,
    (response ?? 0) - media,
    (total ?? 0) - promptTokens(usage) - thoughts - media,
    0,
  );
  if (thoughts > 0) usage.reasoning = thoughts;
  if (generated.audio > 0) usage.audioOutput = generated.audio;
  if (generated.image > 0) usage.imageOutput = generated.image;
  const unknown = unknownCounters("usageMetadata", raw, KNOWN_COUNTERS);
  if (unknown !== undefined) usage.unknown = unknown;
  return usage;
}

/** Hosts report one of the two. */
const addCounts = (one: Counts, other: Counts): Counts => (one.text + one.audio + one.image > 0 ? one : other);

/** The reverse. */
export function encodeUsage(usage: Usage): JsonObject {
  const { audioInput = 0, imageInput = 0, cacheRead, output = 0, audioOutput = 0, imageOutput = 0, reasoning } = usage;
  const prompt = promptTokens(usage);
  return {
    promptTokenCount: prompt,
    ...(cacheRead === undefined ? {} : { cachedContentTokenCount: cacheRead }),
    responseTokenCount: output + audioOutput + imageOutput,
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + completionTokens(usage),
    promptTokensDetails: detailsOf(prompt - audioInput - imageInput, audioInput, imageInput),
    ...(cacheRead === undefined ? {} : { cacheTokensDetails: detailsOf(cacheRead, 0, 0) }),
    responseTokensDetails: detailsOf(output, audioOutput, imageOutput),
  };
}

const detailsOf = (text: number, audio: number, image: number): JsonObject[] =>
  [
    { modality: "TEXT", tokenCount: text },
    { modality: "AUDIO", tokenCount: audio },
    { modality: "IMAGE", tokenCount: image },
  ].filter(({ tokenCount }) => tokenCount > 0);
