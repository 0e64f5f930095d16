import { toneFrame } from "./aac-tone.ts";
import type { VideoOptions } from "./video-options.ts";

const LOWEST_TONE = 5;
const TONES = 5;

/** The sound of a video, where it has one: its seed decides how high. */
export function toneOf({ audio, seed }: Pick<VideoOptions, "audio" | "seed">): { tone?: Uint8Array } {
  return audio ? { tone: toneFrame(LOWEST_TONE + (Math.abs(seed) % TONES)) } : {};
}
