import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { reportTerms, type ServedOn } from "../../../canon/terms.ts";
import { completionTokens, countAt, MAX_UNKNOWN_COUNTERS, promptTokens, type Usage } from "../../../canon/usage.ts";
import { unknownCounters, unknownToolCounters } from "../../answer/unknown-counters.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";
import { readPasses } from "./read-passes.ts";
import { REQUESTS, ServerTools } from "./server-tools.ts";

export const TOTAL = "cache_creation_input_tokens";
export const SPLIT = "cache_creation";
export const MINUTES = "ephemeral_5m_input_tokens";
export const HOUR = "ephemeral_1h_input_tokens";
export const SERVER_TOOLS = "server_tool_use";
/** The vendor's SDK requires all of these if one is present. */
const SERVER_TOOL_COUNTS = ["web_search_requests", "web_fetch_requests"] as const;

interface CacheWrites {
  minutes: number | undefined;
  hour: number | undefined;
}

/** Cache writes by lifetime. What the split does not cover of the total counts as five minutes (contract 2.11). */
export function cacheWrites(raw: unknown): CacheWrites {
  const total = countAt(raw, TOTAL);
  const split = objectAt(raw, SPLIT);
  const hour = countAt(split, HOUR);
  const minutes = countAt(split, MINUTES);
  if (total === undefined) return { minutes, hour };
  return { minutes: Math.max(minutes ?? 0, total - (hour ?? 0)), hour };
}

/**
 * The usage as clients may read it: its total is the sum of its split (contract 2.11), which is what is billed. Undefined if it
 * is so already.
 */
export function consistentUsage(raw: JsonObject): JsonObject | undefined {
  if (!objectAt(raw, SPLIT)) return undefined;
  const { minutes = 0, hour = 0 } = cacheWrites(raw);
  const split = objectAt(raw, SPLIT);
  if (countAt(raw, TOTAL) === minutes + hour && countAt(split, MINUTES) === minutes) return undefined;
  return { ...raw, [TOTAL]: minutes + hour, [SPLIT]: { ...split, [MINUTES]: minutes, [HOUR]: hour } };
}

/** The counters of contract 2.11 that a host left out, with their values. */
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
 * `input_tokens` excludes cached tokens; `output_tokens` includes thinking, which newer hosts report separately. Passes that the
 * host ran itself are only in `iterations`.
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  const counted = decodeCounters(raw);
  if (counted === undefined || !isObject(raw)) return undefined;
  const searches = countAt(objectAt(raw, SERVER_TOOLS), "web_search_requests");
  const { own, unknown: kinds = [], ...passes } = readPasses(raw, decodePass);
  const usage: Usage = { ...(own === undefined || isSame(own, counted, passes) ? counted : own), ...passes };
  if (searches) usage.searches = searches;
  const unknown = [...unknownIn(raw), ...kinds];
  if (unknown.length > 0) usage.unknown = unknown.slice(0, MAX_UNKNOWN_COUNTERS);
  return usage;
}

/** The counters of the whole usage may be older than those of its passes, or include a model that declined. */
const isSame = (own: Usage, counted: Usage, { servedBy }: Pick<Usage, "servedBy">): boolean =>
  servedBy === undefined &&
  promptTokens(own) === promptTokens(counted) &&
  completionTokens(own) === completionTokens(counted);

/** The counters that cannot be billed. */
export const unknownIn = (raw: JsonObject): readonly string[] => [
  ...(unknownCounters("usage", raw, KNOWN_COUNTERS) ?? []),
  ...unknownToolCounters(`usage.${SERVER_TOOLS}`, objectAt(raw, SERVER_TOOLS), REQUESTS),
];

function decodeCounters(raw: unknown): Usage | undefined {
  const usage = decodePass(raw);
  return usage.input === undefined && usage.output === undefined ? undefined : usage;
}

/** The tokens of one pass, as far as they are reported. */
function decodePass(raw: unknown): Usage {
  const input = countAt(raw, "input_tokens");
  const output = countAt(raw, "output_tokens");
  const cacheRead = countAt(raw, "cache_read_input_tokens");
  const { minutes, hour } = cacheWrites(raw);
  const reported = countAt(objectAt(raw, "output_tokens_details"), "thinking_tokens");
  const reasoning = reported === undefined || output === undefined ? reported : Math.min(reported, output);
  const usage: Usage = {};
  if (input !== undefined) usage.input = input;
  if (cacheRead !== undefined) usage.cacheRead = cacheRead;
  if (minutes !== undefined) usage.cacheWrite5m = minutes;
  if (hour !== undefined) usage.cacheWrite1h = hour;
  if (output !== undefined) usage.output = output - (reasoning ?? 0);
  if (reasoning !== undefined) usage.reasoning = reasoning;
  return usage;
}

/** Reports the terms on which the response was served, according to its usage. */
export const reportUsageTerms = (served: ServedOn | undefined, usage: JsonObject | undefined): void =>
  reportTerms(served, usage?.["service_tier"], usage?.["speed"], usage?.["inference_geo"]);

/** Replaces counts that the upstream never reported: clients of this dialect require them. */
interface UsageEstimate {
  input: () => number;
  output: () => number;
}

/**
 * Clients add the prompt counters up, so all of them are present: a cache that was not mentioned counts 0. The sums equal the
 * billed usage.
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
 * The counters at the end of a stream whose start could only estimate the prompt. Clients replace a start counter by the end
 * counter unless that is 0, and add up all prompt counters, so a prompt read entirely from the cache would count twice. One of
 * its tokens is reported as uncached to keep the sum right.
 */
export function overEstimate(usage: JsonObject): JsonObject {
  const cached = countAt(usage, "cache_read_input_tokens") ?? 0;
  if (countAt(usage, "input_tokens") !== 0 || cached === 0) return usage;
  return { ...usage, input_tokens: 1, cache_read_input_tokens: cached - 1 };
}

/** Whether a block is a search result. A failed search costs nothing. */
export const isSearchResult = (block: unknown): boolean =>
  isObject(block) && block["type"] === "web_search_tool_result" && Array.isArray(block["content"]);

/** Whether a block is the result of a hosted tool, after which the host called the model again. */
export const isHostedResult = (block: unknown): boolean => /._tool_result$/.test(stringAt(block, "type") ?? "");

/** How often the host called the model, derived from its tool results. Newer hosts report it. */
export function withResults(usage: Usage | undefined, results: number): Usage | undefined {
  return usage !== undefined && results >= (usage.rounds ?? 1) ? { ...usage, rounds: results + 1 } : usage;
}

/** The usage of a complete response. */
export function readUsage(body: JsonObject): Usage | undefined {
  const content = arrayAt(body, "content");
  const counted = withResults(decodeUsage(body["usage"]), content.filter(isHostedResult).length);
  return ServerTools.in(content).addTo(counted, objectAt(body, "usage"));
}

/**
 * Searches are reported at the end of a response. Those that were seen are billed even if the client disconnects before (H26).
 */
export function withSearches(usage: Usage | undefined, seen: number): Usage | undefined {
  return seen > (usage?.searches ?? 0) ? { ...usage, searches: seen } : usage;
}
