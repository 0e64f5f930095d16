import type { LiveDialectName } from "../../canon/dialect-name.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";

/** How hosts of a protocol count audio, in tokens per second. */
const TOKENS_PER_SECOND: Readonly<Record<LiveDialectName, { input: number; output: number }>> = {
  // One token for 100 ms of the user's speech, and one for 50 ms of the model's.
  realtime: { input: 10, output: 20 },
  live: { input: 25, output: 25 },
};

const G711_RATE = 8_000;
const BYTES_PER_SAMPLE = 2;

const bytesPerSecond = (format: LiveAudioFormat): number =>
  format.type === "pcm" ? format.rate * BYTES_PER_SAMPLE : G711_RATE;

/** The length of audio in seconds. */
export const secondsOf = (bytes: number, format: LiveAudioFormat): number => bytes / bytesPerSecond(format);

/** What a host counts for this much of the user's speech, or of the model's. */
export const tokensOfAudio = (dialect: LiveDialectName, way: "input" | "output", seconds: number): number =>
  Math.ceil(seconds * TOKENS_PER_SECOND[dialect][way]);
