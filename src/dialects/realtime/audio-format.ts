import { isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";

/** The protocol has no other rate. */
const RATE = 24_000;

const OF_TYPE: ReadonlyMap<string, LiveAudioFormat> = new Map<string, LiveAudioFormat>([
  ["audio/pcm", { type: "pcm", rate: RATE }],
  ["audio/pcmu", { type: "pcmu" }],
  ["audio/pcma", { type: "pcma" }],
  // The names of the beta.
  ["pcm16", { type: "pcm", rate: RATE }],
  ["g711_ulaw", { type: "pcmu" }],
  ["g711_alaw", { type: "pcma" }],
]);

const BETA_NAMES = { pcm: "pcm16", pcmu: "g711_ulaw", pcma: "g711_alaw" } as const;

export const DEFAULT_FORMAT: LiveAudioFormat = { type: "pcm", rate: RATE };

/** Undefined for a format that the protocol does not have. */
export function decodeFormat(raw: unknown): LiveAudioFormat | undefined {
  const name = typeof raw === "string" ? raw : stringAt(raw, "type");
  const rate = isObject(raw) ? numberAt(raw, "rate") : undefined;
  const format = OF_TYPE.get(name ?? "");
  return rate === undefined || (format?.type === "pcm" && rate === RATE) ? format : undefined;
}

export const encodeFormat = (format: LiveAudioFormat): JsonObject =>
  format.type === "pcm" ? { type: "audio/pcm", rate: RATE } : { type: `audio/${format.type}` };

export const encodeBetaFormat = ({ type }: LiveAudioFormat): string => BETA_NAMES[type];
