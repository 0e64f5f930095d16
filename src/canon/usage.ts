import { numberAt, numberOf } from "../base/json.ts";
import { billableName } from "./billable.ts";

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
  /** Passes that the host ran by itself. The counters above leave them out, but they are billed (H33). */
  passes?: readonly UsagePass[];
  /** How many times the host called the model for this answer, where it says so: each call has the request's output limit. */
  rounds?: number;
  /** The host's name for the model that answered, where that is not the model of the request. */
  servedBy?: string;
  /** Uses of other hosted tools, by their names. */
  tools?: Readonly<Record<string, number>>;
  /**
   * Names of counters that were not zero and that the dialect's reader does not know, such as `usage.foo_tokens`. They have no
   * price, so a bill with any of them may be too small.
   */
  unknown?: readonly string[];
}

/** One pass of a model that the host ran by itself, such as a compaction of the context. */
export interface UsagePass {
  /** The host's word for it. */
  kind: string;
  /** The host's name for the model, where it gives one. */
  model?: string;
  usage: Usage;
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

/** Whether a value can be a count of anything. */
export function isCount(value: unknown): boolean {
  const count = numberOf(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT;
}

/** How many hosted tools a usage names: a host chooses how many it reports. */
const MAX_TOOLS = 16;

/** A usage with further uses of a hosted tool. */
export function addToolUse(usage: Usage | undefined, name: string, uses = 1): Usage {
  const tools = usage?.tools ?? {};
  const shown = billableName(name);
  const counted = Object.hasOwn(tools, shown) || Object.keys(tools).length < MAX_TOOLS ? shown : "other";
  return { ...usage, tools: { ...tools, [counted]: (tools[counted] ?? 0) + uses } };
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
  let sum: Usage = {};
  for (const counter of USAGE_COUNTERS) {
    if (one[counter] === undefined && other[counter] === undefined) continue;
    sum[counter] = (one[counter] ?? 0) + (other[counter] ?? 0);
  }
  for (const { tools = {} } of [one, other]) {
    for (const [name, uses] of Object.entries(tools)) sum = addToolUse(sum, name, uses);
  }
  const unknown = new Set([...(one.unknown ?? []), ...(other.unknown ?? [])]);
  if (unknown.size > 0) sum.unknown = [...unknown].slice(0, MAX_UNKNOWN_COUNTERS);
  if (one.passes !== undefined || other.passes !== undefined)
    sum.passes = [...(one.passes ?? []), ...(other.passes ?? [])];
  return sum;
}

/** The counters of an answer and of the passes that they leave out: all that is billed. */
export function wholeUsage(usage: Usage): Usage {
  const { passes, rounds: _rounds, servedBy: _servedBy, ...own } = usage;
  return (passes ?? []).reduce((sum, pass) => sumUsage(sum, wholeUsage(pass.usage)), own as Usage);
}

const PROMPT_COUNTERS = ["input", "cacheRead", "cacheWrite5m", "cacheWrite1h", "imageInput", "audioInput"] as const;
const COMPLETION_COUNTERS = ["output", "reasoning", "imageOutput", "audioOutput"] as const;

/**
 * A usage that was reported after another of the same answer. Hosts count up, so that the later one holds, but not where it counts
 * less: what was counted was used (H27, H39). Tokens of an answer may turn into tokens of its prompt, as they do where a host calls
 * the model again. Returns `later` itself if nothing of `earlier` is kept.
 */
export function laterUsage(earlier: Usage | undefined, later: Usage): Usage {
  if (earlier === undefined) return later;
  const grown = promptTokens(later) - promptTokens(earlier);
  const completion = completionTokens(later);
  const lost = completionTokens(earlier) - completion;
  const keepsCompletion = lost > 0 && (completion === 0 || lost > grown);
  if (grown >= 0 && !keepsCompletion && !lacksWork(earlier, later)) return later;
  const merged = withWork(earlier, later);
  if (grown < 0) keepCounters(merged, earlier, PROMPT_COUNTERS);
  if (keepsCompletion) keepCounters(merged, earlier, COMPLETION_COUNTERS);
  return merged;
}

/** Whether the later usage leaves out uses of tools, or unknown counters, that the earlier one has. */
function lacksWork(earlier: Usage, { searches = 0, tools = {}, unknown = [] }: Usage): boolean {
  return (
    (earlier.searches ?? 0) > searches ||
    Object.entries(earlier.tools ?? {}).some(([name, uses]) => uses > (tools[name] ?? 0)) ||
    (earlier.unknown ?? []).some((name) => !unknown.includes(name))
  );
}

function withWork(earlier: Usage, later: Usage): Usage {
  const merged = { ...later };
  const searches = Math.max(earlier.searches ?? 0, later.searches ?? 0);
  if (searches > 0) merged.searches = searches;
  if (earlier.tools !== undefined) {
    const tools: Record<string, number> = { ...earlier.tools };
    for (const [name, uses] of Object.entries(later.tools ?? {})) tools[name] = Math.max(tools[name] ?? 0, uses);
    merged.tools = tools;
  }
  const unknown = new Set([...(earlier.unknown ?? []), ...(later.unknown ?? [])]);
  if (unknown.size > 0) merged.unknown = [...unknown].slice(0, MAX_UNKNOWN_COUNTERS);
  return merged;
}

function keepCounters(merged: Usage, earlier: Usage, counters: readonly UsageCounter[]): void {
  for (const counter of counters) {
    if (earlier[counter] === undefined) delete merged[counter];
    else merged[counter] = earlier[counter];
  }
}

/** Whether a usage counts no tokens at all. */
export const countsNothing = (usage: Usage): boolean => promptTokens(usage) === 0 && completionTokens(usage) === 0;
