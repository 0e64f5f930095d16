import { arrayAt, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";

/** `input_tokens` includes cached ones (R31), `output_tokens` includes reasoning. */
export function decodeUsage(raw: unknown): Usage | undefined {
  const prompt = countAt(raw, "input_tokens");
  if (prompt === undefined) return undefined;
  const details = objectAt(raw, "input_tokens_details");
  const cacheRead = countAt(details, "cached_tokens");
  const cacheWrite = countAt(details, "cache_write_tokens");
  const generated = countAt(raw, "output_tokens");
  const reasoning = countAt(objectAt(raw, "output_tokens_details"), "reasoning_tokens");
  const uncached = prompt - (cacheRead ?? 0) - (cacheWrite ?? 0);
  // More from a cache than there was: in addition to the prompt, if at all.
  const usage: Usage = uncached < 0 ? { input: prompt, doubtful: true } : { input: uncached };
  if (cacheRead !== undefined) usage.cacheRead = cacheRead;
  if (cacheWrite !== undefined) usage.cacheWrite5m = cacheWrite;
  if (generated === undefined) return usage;
  const thought = Math.min(reasoning ?? 0, generated);
  usage.output = generated - thought;
  if (reasoning !== undefined) usage.reasoning = thought;
  return usage;
}

/** Hosts count tokens; that they searched too, which costs something, only their items tell. */
export const isSearch = (item: unknown): boolean =>
  stringAt(item, "type") === "web_search_call" && stringAt(item, "status") !== "failed";

export const withSearches = (usage: Usage | undefined, searches: number): Usage | undefined =>
  searches === 0 ? usage : { ...usage, searches };

export const searchesIn = (response: unknown): number => arrayAt(response, "output").filter(isSearch).length;

/** The same sums back, with both details: clients read all five numbers. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheRead = 0, cacheWrite5m, cacheWrite1h, reasoning = 0 } = usage;
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  const written =
    cacheWrite5m === undefined && cacheWrite1h === undefined ? undefined : (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheRead,
      ...(written === undefined ? {} : { cache_write_tokens: written }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
