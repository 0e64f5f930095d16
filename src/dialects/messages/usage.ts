import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { reportTerms, type ServedOn } from "../../canon/terms.ts";
import { completionTokens, countAt, MAX_UNKNOWN_COUNTERS, type Usage } from "../../canon/usage.ts";
import { unknownCounters } from "../unknown-counters.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";
import { readPasses } from "./read-passes.ts";
import { ServerTools } from "./server-tools.ts";

/** What a stream's first event tells of the prompt. Of the answer it can only know a beginning, which must not pass for a count. */
export function promptUsage(raw: JsonObject | undefined): JsonObject | undefined {
  if (raw === undefined) return undefined;
  const { output_tokens: _begun, ...prompt } = raw;
  return prompt;
}

/**
 * Lays the counters of a later event over those of the earlier ones: counts are cumulative, so that the later one holds. Zeros
 * never replace a count (H39). A total without its split, after a split that was reported, keeps of it what fits (H27).
 */
export function mergeUsage(known: Record<string, unknown>, reported: JsonObject): void {
  const later = overZeros(known, reported);
  for (const [key, value] of Object.entries(later)) {
    // Passes that were reported have run, whatever a later event leaves out.
    const isShorter = key === PASSES && arrayAt(later, PASSES).length < arrayAt(known, PASSES).length;
    if (value !== null && !isShorter && (key in known || hasRoom(known, key))) known[key] = value;
  }
  const total = countAt(later, TOTAL);
  if (objectAt(later, SPLIT)) {
    if (total === undefined) delete known[TOTAL];
    return;
  }
  const split = objectAt(known, SPLIT);
  if (total === undefined || split === undefined) return;
  const hour = Math.min(countAt(split, HOUR) ?? 0, total);
  if (hour !== countAt(split, HOUR) || total - hour !== countAt(split, MINUTES))
    known[SPLIT] = { [MINUTES]: total - hour, [HOUR]: hour };
}

const PROMPT_KEYS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"];
const COMPLETION_KEYS = ["output_tokens", "output_tokens_details"];

/** What a later event reports, with the earlier counters of a prompt, or of an answer, that it has as zeros. */
export function overZeros(known: JsonObject, later: JsonObject): JsonObject {
  const keep = [
    ...(promptSum(later) === 0 && promptSum(known) > 0 ? PROMPT_KEYS : []),
    ...(countAt(later, "output_tokens") === 0 && (countAt(known, "output_tokens") ?? 0) > 0 ? COMPLETION_KEYS : []),
  ].filter((key) => key in later);
  if (keep.length === 0) return later;
  return { ...later, ...Object.fromEntries(keep.flatMap((key) => (key in known ? [[key, known[key]]] : []))) };
}

function promptSum(raw: JsonObject): number {
  const { minutes = 0, hour = 0 } = cacheWrites(raw);
  return (countAt(raw, "input_tokens") ?? 0) + (countAt(raw, "cache_read_input_tokens") ?? 0) + minutes + hour;
}

/** A host chooses how many members its usage has, and all of them are looked at again with each event that adds to them (S18). */
const MAX_MEMBERS = 64;

const hasRoom = (known: JsonObject, key: string): boolean =>
  ALWAYS_KEPT.has(key) || Object.keys(known).length < MAX_MEMBERS;

const PASSES = "iterations";
const TOTAL = "cache_creation_input_tokens";
const SPLIT = "cache_creation";
const MINUTES = "ephemeral_5m_input_tokens";
const HOUR = "ephemeral_1h_input_tokens";
const SERVER_TOOLS = "server_tool_use";
const ALWAYS_KEPT: ReadonlySet<string> = new Set([
  ...PROMPT_KEYS,
  ...COMPLETION_KEYS,
  PASSES,
  SERVER_TOOLS,
  "service_tier",
]);
/** The vendor's SDK requires all of these where there is one. */
const SERVER_TOOL_COUNTS = ["web_search_requests", "web_fetch_requests"] as const;

interface CacheWrites {
  minutes: number | undefined;
  hour: number | undefined;
}

/** What was written to a cache, by its age. What the split does not cover of the total is of five minutes (contract 2.11). */
function cacheWrites(raw: unknown): CacheWrites {
  const total = countAt(raw, TOTAL);
  const split = objectAt(raw, SPLIT);
  const hour = countAt(split, HOUR);
  const minutes = countAt(split, MINUTES);
  if (total === undefined) return { minutes, hour };
  return { minutes: Math.max(minutes ?? 0, total - (hour ?? 0)), hour };
}

/**
 * The usage as clients may read it: its total is the sum of its split (contract 2.11), which is what is billed. Undefined
 * where it is so already.
 */
export function consistentUsage(raw: JsonObject): JsonObject | undefined {
  if (!objectAt(raw, SPLIT)) return undefined;
  const { minutes = 0, hour = 0 } = cacheWrites(raw);
  const split = objectAt(raw, SPLIT);
  if (countAt(raw, TOTAL) === minutes + hour && countAt(split, MINUTES) === minutes) return undefined;
  return { ...raw, [TOTAL]: minutes + hour, [SPLIT]: { ...split, [MINUTES]: minutes, [HOUR]: hour } };
}

/** What contract 2.11 counts and a host left out, with what it comes to. */
export function missingUsage(raw: JsonObject): JsonObject {
  const { minutes = 0, hour = 0 } = cacheWrites(raw);
  const served = objectAt(raw, SERVER_TOOLS);
  const missing: Record<string, unknown> = {};
  const fill = (key: string, value: unknown) => {
    if (raw[key] === undefined || raw[key] === null) missing[key] = value;
  };
  fill(TOTAL, minutes + hour);
  fill("cache_read_input_tokens", 0);
  fill(SPLIT, { [HOUR]: hour, [MINUTES]: minutes });
  const uncounted = SERVER_TOOL_COUNTS.filter((key) => countAt(served, key) === undefined);
  if (uncounted.length > 0) {
    missing[SERVER_TOOLS] = { ...served, ...Object.fromEntries(uncounted.map((key) => [key, 0])) };
  }
  fill("service_tier", "standard");
  return missing;
}

/**
 * `input_tokens` excludes cached ones; `output_tokens` includes thinking, whose part newer hosts tell apart. Passes that the host
 * ran by itself are in `iterations` alone.
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  const counted = decodeCounters(raw);
  if (counted === undefined || !isObject(raw)) return undefined;
  const searches = countAt(objectAt(raw, SERVER_TOOLS), "web_search_requests");
  const { own, unknown: kinds = [], ...passes } = readPasses(raw, decodePass);
  const unknown = [...(unknownCounters("usage", raw, KNOWN_COUNTERS) ?? []), ...unknownOfTools(raw), ...kinds];
  return {
    ...(own ?? counted),
    ...passes,
    ...(searches ? { searches } : {}),
    ...(unknown.length === 0 ? {} : { unknown: unknown.slice(0, MAX_UNKNOWN_COUNTERS) }),
  };
}

/** Counters of hosted tools that count no requests, and so have no price. */
function unknownOfTools(raw: JsonObject): readonly string[] {
  const reported = objectAt(raw, SERVER_TOOLS);
  if (reported === undefined) return NO_COUNTERS;
  const others = Object.entries(reported).filter(([key]) => !key.endsWith("_requests"));
  if (others.length === 0) return NO_COUNTERS;
  return unknownCounters(`usage.${SERVER_TOOLS}`, Object.fromEntries(others), KNOWN_TOOL_COUNTS) ?? NO_COUNTERS;
}

const NO_COUNTERS: readonly string[] = [];
const KNOWN_TOOL_COUNTS: ReadonlySet<string> = new Set(SERVER_TOOL_COUNTS);

function decodeCounters(raw: unknown): Usage | undefined {
  const usage = decodePass(raw);
  return usage.input === undefined && usage.output === undefined ? undefined : usage;
}

/** The tokens of one pass, as far as it counts them. */
function decodePass(raw: unknown): Usage {
  const input = countAt(raw, "input_tokens");
  const output = countAt(raw, "output_tokens");
  const cacheRead = countAt(raw, "cache_read_input_tokens");
  const { minutes, hour } = cacheWrites(raw);
  const reported = countAt(objectAt(raw, "output_tokens_details"), "thinking_tokens");
  const reasoning = reported === undefined || output === undefined ? reported : Math.min(reported, output);
  return {
    ...(input === undefined ? {} : { input }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(minutes === undefined ? {} : { cacheWrite5m: minutes }),
    ...(hour === undefined ? {} : { cacheWrite1h: hour }),
    ...(output === undefined ? {} : { output: output - (reasoning ?? 0) }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

/** On which terms the usage says that the answer was served. */
export const reportUsageTerms = (served: ServedOn | undefined, usage: JsonObject | undefined): void =>
  reportTerms(served, usage?.["service_tier"], usage?.["speed"], usage?.["inference_geo"]);

/** What stands in for a count that the upstream never reported: clients of this dialect cannot do without one. */
interface UsageEstimate {
  input: () => number;
  output: () => number;
}

/**
 * Clients add the counters of the prompt up, so that all of them are there: a cache that was not mentioned counts 0. The
 * sums are those of the usage that is billed.
 */
export function encodeUsage(usage: Usage | undefined, estimate: UsageEstimate): JsonObject {
  const { input, output, reasoning, searches = 0 } = usage ?? {};
  const reported = output !== undefined || reasoning !== undefined;
  return {
    ...encodePrompt(
      input === undefined ? { ...usage, input: estimate.input(), imageInput: 0, audioInput: 0 } : (usage ?? {}),
    ),
    output_tokens: reported ? completionTokens(usage ?? {}) : estimate.output(),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
    server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
    service_tier: "standard",
  };
}

/** The counters of a prompt. */
export function encodePrompt(usage: Usage): JsonObject {
  const { input = 0, imageInput = 0, audioInput = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  return {
    input_tokens: input + imageInput + audioInput,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
  };
}

/**
 * The counters of a stream's end, after a beginning that could only estimate the prompt. Clients take a count of the end over that of the beginning
 * unless it is 0, and add up all counters of the prompt: a prompt that was read from the cache whole would count twice. One of its
 * tokens is shown as not cached, so that the sum is right.
 */
export function overEstimate(usage: JsonObject): JsonObject {
  const cached = countAt(usage, "cache_read_input_tokens") ?? 0;
  if (countAt(usage, "input_tokens") !== 0 || cached === 0) return usage;
  return { ...usage, input_tokens: 1, cache_read_input_tokens: cached - 1 };
}

/** Whether a block is what a search has found; one that failed costs nothing. */
export const isSearchResult = (block: unknown): boolean =>
  isObject(block) && block["type"] === "web_search_tool_result" && Array.isArray(block["content"]);

/** Whether a block is the result of a tool that the host ran, after which it called the model again. */
export const isHostedResult = (block: unknown): boolean => /._tool_result$/.test(stringAt(block, "type") ?? "");

/** How often the host called the model, as far as its results tell; newer hosts report it. */
export function withResults(usage: Usage | undefined, results: number): Usage | undefined {
  return usage !== undefined && results >= (usage.rounds ?? 1) ? { ...usage, rounds: results + 1 } : usage;
}

/** The usage of an answer in one piece. */
export function readUsage(body: JsonObject): Usage | undefined {
  const content = arrayAt(body, "content");
  const counted = withResults(decodeUsage(body["usage"]), content.filter(isHostedResult).length);
  return ServerTools.in(content).addTo(counted, objectAt(body, "usage"));
}

/** Searches are reported at the end of an answer; those that were seen cost something also where the client leaves before it (H26). */
export function withSearches(usage: Usage | undefined, seen: number): Usage | undefined {
  return seen > (usage?.searches ?? 0) ? { ...usage, searches: seen } : usage;
}
