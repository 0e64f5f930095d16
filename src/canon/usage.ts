import { numberAt } from "../base/json.ts";

/**
 * What a call consumed. The counters are disjoint: no token is in two of them, so that one object both bills and is
 * shown. `undefined` means that the upstream did not say; it is never written as 0.
 */
export interface Usage {
  /** Prompt tokens that came from no cache and went into none. */
  input?: number;
  cacheRead?: number;
  cacheWrite5m?: number;
  cacheWrite1h?: number;
  /** Generated tokens, without those of reasoning. */
  output?: number;
  reasoning?: number;
  /** Prompt tokens of images, where the upstream counts them apart. */
  imageInput?: number;
  /** Prompt tokens of sound, where the upstream counts them apart. */
  audioInput?: number;
  /** Generated tokens of images, where the upstream counts them apart. */
  imageOutput?: number;
  /** Generated tokens of sound, where the upstream counts them apart. */
  audioOutput?: number;
  /** Images that were made. */
  images?: number;
  /** Of videos that were made, or of sound. */
  seconds?: number;
  /** Characters of a text that was spoken. */
  characters?: number;
  /** Of the web, or as a reranker counts them. */
  searches?: number;
  /** What the host told contradicts itself: it is bounded by what passed through, and does not count as measured. */
  doubtful?: true;
  /**
   * Names of counters that were not zero and that the dialect's reader does not know, such as `usage.foo_tokens`. They have no
   * price, so a bill with any of them may be too small.
   */
  unknown?: readonly string[];
}

/** A usage keeps so many names of unknown counters: a host chooses how many it sends. */
export const MAX_UNKNOWN_COUNTERS = 16;

/** More than any answer has: a host that says so has not counted, and one such figure would spoil every sum. */
const MAX_COUNT = 1_000_000_000;

/** A count as a host tells it; what cannot be one is not told. */
export function countAt(holder: unknown, key: string): number | undefined {
  const count = numberAt(holder, key);
  return count !== undefined && count >= 0 && count <= MAX_COUNT ? Math.round(count) : undefined;
}

/** `measured`: the upstream's own figures. `estimated`: ours. `partial`: the answer broke off; what was produced until then. */
export type UsageSource = "measured" | "estimated" | "partial";

export const USAGE_COUNTERS = [
  "input",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "output",
  "reasoning",
  "imageInput",
  "audioInput",
  "imageOutput",
  "audioOutput",
  "images",
  "seconds",
  "characters",
  "searches",
] as const satisfies readonly (keyof Usage)[];

export type UsageCounter = (typeof USAGE_COUNTERS)[number];

/** All prompt tokens, cached or not: what price tiers and context limits go by. */
export function promptTokens(usage: Usage): number {
  const cached = (usage.cacheRead ?? 0) + (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0);
  return (usage.input ?? 0) + (usage.imageInput ?? 0) + (usage.audioInput ?? 0) + cached;
}

/** All generated tokens, reasoning included. */
export function completionTokens(usage: Usage): number {
  return (usage.output ?? 0) + (usage.imageOutput ?? 0) + (usage.audioOutput ?? 0) + (usage.reasoning ?? 0);
}

/** What two answers have used together. */
export function sumUsage(one: Usage, other: Usage): Usage {
  const sum: Usage = {};
  for (const counter of USAGE_COUNTERS) {
    if (one[counter] === undefined && other[counter] === undefined) continue;
    sum[counter] = (one[counter] ?? 0) + (other[counter] ?? 0);
  }
  if (one.doubtful || other.doubtful) sum.doubtful = true;
  const unknown = new Set([...(one.unknown ?? []), ...(other.unknown ?? [])]);
  if (unknown.size > 0) sum.unknown = [...unknown].slice(0, MAX_UNKNOWN_COUNTERS);
  return sum;
}
