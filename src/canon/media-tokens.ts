import { completionTokens, type Usage } from "./usage.ts";

/** What generated media come to, about, where no usage counts them. */
export type MediaTokens = Pick<Usage, "imageOutput" | "audioOutput">;

/** An image of a megapixel at the hosts that count images in tokens. */
const TOKENS_PER_IMAGE = 1_290;
/** Sound of 24 kHz and 16 bits has 25 tokens for each second, in base64. */
const CHARACTERS_PER_TOKEN = 2_560;

/** With one more image, or more sound, that an answer has brought. */
export function addMedia(tokens: MediaTokens, kind: "image" | "audio", base64Characters: number): MediaTokens {
  if (kind === "image") return { ...tokens, imageOutput: (tokens.imageOutput ?? 0) + TOKENS_PER_IMAGE };
  const added = Math.ceil(base64Characters / CHARACTERS_PER_TOKEN);
  return { ...tokens, audioOutput: (tokens.audioOutput ?? 0) + added };
}

/** A usage that broke off, with media that came and that it cannot have counted yet. */
export function withMedia(usage: Usage, reported: Usage | undefined, came: MediaTokens | undefined): Usage {
  if (came === undefined || completionTokens(came) <= completionTokens(reported ?? {})) return usage;
  return { ...usage, ...came };
}
