import { numberAt, numberOf } from "../base/json.ts";
import { billableName } from "./billable.ts";

/**
 * What a call consumed. The counters are disjoint, so that the same object serves for billing and display. `undefined` means that the
 * upstream did not report it; it is never written as 0.
 */
export interface Usage {
  /** Prompt tokens neither read from a cache nor written to one. */
  input?: number;
  cacheRead?: number;
  /** What of `cacheRead` was sound, and what was images, if the upstream says so. A bill has them as parts (decision 0131). */
  cached?: Readonly<Partial<Record<"audio" | "image", number>>>;
  cacheWrite5m?: number;
  cacheWrite1h?: number;
  /** Generated tokens without reasoning. */
  output?: number;
  reasoning?: number;
  /** Prompt tokens of images, if the upstream counts them separately. */
  imageInput?: number;
  /** Prompt tokens of audio, if the upstream counts them separately. */
  audioInput?: number;
  /** Generated tokens of images, if the upstream counts them separately. */
  imageOutput?: number;
  /** Generated tokens of audio, if the upstream counts them separately. */
  audioOutput?: number;
  /** Generated images. */
  images?: number;
  /** Seconds of generated video, or of audio. */
  seconds?: number;
  /** Characters of text converted to speech. */
  characters?: number;
  /** Web searches, or the units of a reranker. */
  searches?: number;
  /** Passes that the provider ran on its own. They are not in the counters above, but are billed (H33). */
  passes?: readonly UsagePass[];
  /** How often the provider called the model for this response, if reported. The request's output limit applies to each. */
  rounds?: number;
  /** The provider's name for the model that answered, if it is not the requested one. */
  servedBy?: string;
  /** Uses of other hosted tools, by name. */
  tools?: Readonly<Record<string, number>>;
  /**
   * Names of counters that were not zero and are unknown to the dialect, such as `usage.foo_tokens`. They have no price, so the bill may be
   * too low.
   */
  unknown?: readonly string[];
}

/** A pass of a model that the provider ran on its own, such as a compaction of the context. */
export interface UsagePass {
  /** The provider's term for it. */
  kind: string;
  /** The provider's name for the model, if reported. */
  model?: string;
  usage: Usage;
}

/** The number of unknown counters is limited, because a provider can send any number. */
export const MAX_UNKNOWN_COUNTERS = 16;

/** Higher counts are wrong, and a single one would distort every sum. */
const MAX_COUNT = 1_000_000_000;

/** A count as reported by a provider, or undefined if it is not plausible. */
export function countAt(holder: unknown, key: string): number | undefined {
  const count = numberAt(holder, key);
  return count !== undefined && count >= 0 && count <= MAX_COUNT ? Math.round(count) : undefined;
}

/** Whether a value is a plausible count. */
export function isCount(value: unknown): boolean {
  const count = numberOf(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT;
}

/** The number of hosted tools is limited, because a provider can report any number. */
const MAX_TOOLS = 16;

/** Adds uses of a hosted tool. */
export function addToolUse(usage: Usage | undefined, name: string, uses = 1): Usage {
  const tools = usage?.tools ?? {};
  const shown = billableName(name);
  const counted = Object.hasOwn(tools, shown) || Object.keys(tools).length < MAX_TOOLS ? shown : "other";
  return { ...usage, tools: { ...tools, [counted]: (tools[counted] ?? 0) + uses } };
}

/** `measured`: reported by the upstream. `estimated`: by the gateway. `partial`: for the part received of an incomplete response. */
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

/** All prompt tokens, cached or not. Price tiers and context limits depend on them. */
export function promptTokens(usage: Usage): number {
  const cached = (usage.cacheRead ?? 0) + (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0);
  return (usage.input ?? 0) + (usage.imageInput ?? 0) + (usage.audioInput ?? 0) + cached;
}

/** All generated tokens, reasoning included. */
export function completionTokens(usage: Usage): number {
  return (usage.output ?? 0) + (usage.imageOutput ?? 0) + (usage.audioOutput ?? 0) + (usage.reasoning ?? 0);
}

/** The combined usage of two responses. */
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

/** Everything that is billed: the counters of a response, plus those of the passes they exclude. */
export function wholeUsage(usage: Usage): Usage {
  const { passes, rounds: _rounds, servedBy: _servedBy, ...own } = usage;
  return (passes ?? []).reduce((sum, pass) => sumUsage(sum, wholeUsage(pass.usage)), own as Usage);
}

const PROMPT_COUNTERS = ["input", "cacheRead", "cacheWrite5m", "cacheWrite1h", "imageInput", "audioInput"] as const;
const COMPLETION_COUNTERS = ["output", "reasoning", "imageOutput", "audioOutput"] as const;
const OTHER_COUNTERS = [["images"], ["seconds"], ["characters"], ["searches"]] as const;

/**
 * Merges two reports for the same response: the later figures count, those of the prompt, of the completion and of each tool by
 * themselves (H27, H60). What the later report lacks is kept, and so is a count that it replaces by zero: what was counted was used (H39).
 * Returns `later` itself if nothing of `earlier` is kept.
 */
export function laterUsage(earlier: Usage | undefined, later: Usage): Usage {
  if (earlier === undefined) return later;
  const keepsPrompt = promptTokens(later) === 0 && promptTokens(earlier) > 0;
  const keepsCompletion = completionTokens(later) === 0 && completionTokens(earlier) > 0;
  if (!keepsPrompt && !keepsCompletion && !lacksWork(earlier, later)) return later;
  const merged = withWork(earlier, later);
  if (keepsPrompt) {
    keepCounters(merged, earlier, PROMPT_COUNTERS);
    if (earlier.cached === undefined) delete merged.cached;
    else merged.cached = earlier.cached;
  }
  if (keepsCompletion) keepCounters(merged, earlier, COMPLETION_COUNTERS);
  return merged;
}

/** What a later report of the same work counts in all beyond an earlier one. Counters that only became others are no more. */
export function usageBeyond(later: Usage, earlier: Usage): Usage {
  const rest: Usage = {};
  for (const counters of [PROMPT_COUNTERS, COMPLETION_COUNTERS, ...OTHER_COUNTERS]) {
    const counted = (usage: Usage): number => counters.reduce((sum, counter) => sum + (usage[counter] ?? 0), 0);
    let left = counted(later) - counted(earlier);
    for (const counter of counters) {
      const more = Math.min(left, (later[counter] ?? 0) - (earlier[counter] ?? 0));
      if (more <= 0) continue;
      rest[counter] = more;
      left -= more;
    }
  }
  const tools = Object.entries(later.tools ?? {}).map(
    ([name, uses]) => [name, uses - (earlier.tools?.[name] ?? 0)] as const,
  );
  const more = tools.filter(([, uses]) => uses > 0);
  if (more.length > 0) rest.tools = Object.fromEntries(more);
  return rest;
}

/** Whether the later usage lacks tools, searches, passes or unknown counters of the earlier one. */
function lacksWork(earlier: Usage, { searches = 0, tools = {}, unknown = [], passes }: Usage): boolean {
  return (
    (searches === 0 && (earlier.searches ?? 0) > 0) ||
    (passes === undefined && earlier.passes !== undefined) ||
    Object.entries(earlier.tools ?? {}).some(([name, uses]) => uses > 0 && !tools[name]) ||
    (earlier.unknown ?? []).some((name) => !unknown.includes(name))
  );
}

function withWork(earlier: Usage, later: Usage): Usage {
  const merged = { ...later };
  const searches = later.searches || earlier.searches;
  if (searches) merged.searches = searches;
  const passes = later.passes ?? earlier.passes;
  if (passes !== undefined) merged.passes = passes;
  if (earlier.tools !== undefined) {
    const tools: Record<string, number> = { ...earlier.tools };
    for (const [name, uses] of Object.entries(later.tools ?? {})) if (uses > 0) tools[name] = uses;
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

/** Whether a usage has no tokens at all. */
export const countsNothing = (usage: Usage): boolean => promptTokens(usage) === 0 && completionTokens(usage) === 0;

/** Why the usage reported by a provider is not billed as is. */
export type CorrectionReason =
  /** No prompt tokens. */
  | "prompt_missing"
  /** A longer prompt than the model's context. */
  | "prompt_above_context"
  /** Too few output tokens for the received text. */
  | "output_below_text"
  /** More output tokens than the request and the model allow, or than the received text can have. */
  | "output_above_limit";

/** A reported usage that cannot be correct, so that something else is billed. */
export interface CorrectedUsage {
  reported: Usage;
  reasons: readonly CorrectionReason[];
}
