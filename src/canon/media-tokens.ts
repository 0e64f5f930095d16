import { completionTokens, type Usage } from "./usage.ts";

/** Estimated tokens of generated media that no usage counts. */
export type MediaTokens = Pick<Usage, "imageOutput" | "audioOutput">;

/** For a one-megapixel image, at providers that count images in tokens. */
const TOKENS_PER_IMAGE = 1_290;
/** 24 kHz, 16-bit audio has 25 tokens per second. This is the number of base64 characters per token. */
const CHARACTERS_PER_TOKEN = 2_560;

/** Adds one more image or audio chunk of a response. */
export function addMedia(tokens: MediaTokens, kind: "image" | "audio", base64Characters: number): MediaTokens {
  if (kind === "image") return { ...tokens, imageOutput: (tokens.imageOutput ?? 0) + TOKENS_PER_IMAGE };
  const added = Math.ceil(base64Characters / CHARACTERS_PER_TOKEN);
  return { ...tokens, audioOutput: (tokens.audioOutput ?? 0) + added };
}

/** The usage of an incomplete response, plus received media that it cannot include yet. */
export function withMedia(usage: Usage, reported: Usage | undefined, came: MediaTokens | undefined): Usage {
  if (came === undefined || completionTokens(came) <= completionTokens(reported ?? {})) return usage;
  return { ...usage, ...came };
}
