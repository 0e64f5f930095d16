import { isObject, type JsonObject, numberAt, objectAt } from "../../base/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";
import { type KnownCounters, unknownCounters } from "../answer/unknown-counters.ts";

const MODALITIES = ["text_tokens", "audio_tokens", "image_tokens"];

const KNOWN: KnownCounters = {
  counts: [
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_token_details.cached_tokens",
    ...MODALITIES.map((name) => `input_token_details.${name}`),
    ...MODALITIES.map((name) => `input_token_details.cached_tokens_details.${name}`),
    "output_token_details.text_tokens",
    "output_token_details.audio_tokens",
    "output_token_details.reasoning_tokens",
  ],
};

/**
 * The usage of a response. Its input includes what was cached, in total and by modality, so that cached tokens are subtracted from both
 * (H36). What the details leave of a total counts as text, and a total larger than its parts as generated (H27).
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  const input = countAt(raw, "input_tokens");
  const output = countAt(raw, "output_tokens");
  if (!isObject(raw) || (input === undefined && output === undefined)) return undefined;
  const prompt = objectAt(raw, "input_token_details");
  const cached = objectAt(prompt, "cached_tokens_details");
  const audio = countAt(prompt, "audio_tokens") ?? 0;
  const image = countAt(prompt, "image_tokens") ?? 0;
  const text = Math.max(countAt(prompt, "text_tokens") ?? 0, (input ?? 0) - audio - image);
  const cacheRead = countAt(prompt, "cached_tokens") ?? 0;
  // What a host does not divide was text before it was audio, and audio before it was an image.
  // Neither was more than all that was cached.
  const cachedAudio = Math.min(audio, cacheRead, countAt(cached, "audio_tokens") ?? Math.max(0, cacheRead - text));
  const cachedImage = Math.min(
    image,
    cacheRead - cachedAudio,
    countAt(cached, "image_tokens") ?? Math.max(0, cacheRead - text - audio),
  );
  const usage: Usage = { input: Math.max(0, text - Math.max(0, cacheRead - cachedAudio - cachedImage)) };
  if (audio > cachedAudio) usage.audioInput = audio - cachedAudio;
  if (image > cachedImage) usage.imageInput = image - cachedImage;
  if (cacheRead > 0) usage.cacheRead = cacheRead;
  if (cachedAudio + cachedImage > 0) usage.cached = { audio: cachedAudio, image: cachedImage };
  const generated = objectAt(raw, "output_token_details");
  const spoken = countAt(generated, "audio_tokens") ?? 0;
  const total = countAt(raw, "total_tokens") ?? 0;
  const written = Math.max(
    countAt(generated, "text_tokens") ?? 0,
    (output ?? 0) - spoken,
    total - promptTokens(usage) - spoken,
  );
  const thought = Math.min(written, countAt(generated, "reasoning_tokens") ?? 0);
  usage.output = written - thought;
  if (thought > 0) usage.reasoning = thought;
  if (spoken > 0) usage.audioOutput = spoken;
  const unknown = unknownCounters("usage", raw, KNOWN);
  if (unknown !== undefined) usage.unknown = unknown;
  return usage;
}

/** The reverse. Cached tokens are not known by modality, and are shown as text. */
export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, audioInput = 0, imageInput = 0, audioOutput = 0 } = usage;
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const cached = usage.cacheRead ?? 0;
  return {
    total_tokens: prompt + completion,
    input_tokens: prompt,
    output_tokens: completion,
    input_token_details: {
      text_tokens: prompt - audioInput - imageInput,
      audio_tokens: audioInput,
      image_tokens: imageInput,
      cached_tokens: cached,
      cached_tokens_details: { text_tokens: Math.min(cached, prompt - input), audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: {
      text_tokens: completion - audioOutput,
      audio_tokens: audioOutput,
      ...(usage.reasoning === undefined ? {} : { reasoning_tokens: usage.reasoning }),
    },
  };
}

/** What a transcription cost: tokens, or seconds of audio. */
export function decodeTranscriptionUsage(raw: unknown): Usage | undefined {
  const seconds = numberAt(raw, "seconds");
  if (seconds !== undefined && seconds >= 0) return { seconds: Math.ceil(seconds) };
  const unknown = isObject(raw) ? unknownCounters("usage", raw, KNOWN) : undefined;
  return decodeUsage(raw) ?? (unknown === undefined ? undefined : { unknown });
}

/** The reverse. A host whose transcripts are part of the turn reports nothing, and they cost nothing besides. */
export function encodeTranscriptionUsage(usage: Usage | undefined): JsonObject {
  if (usage?.seconds !== undefined) return { type: "duration", seconds: usage.seconds };
  const { input = 0, audioInput = 0 } = usage ?? {};
  const output = completionTokens(usage ?? {});
  return {
    type: "tokens",
    total_tokens: promptTokens(usage ?? {}) + output,
    input_tokens: promptTokens(usage ?? {}),
    input_token_details: { text_tokens: input, audio_tokens: audioInput },
    output_tokens: output,
  };
}
