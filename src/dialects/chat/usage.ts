import { type JsonObject, objectAt } from "../../canon/json.ts";
import { completionTokens, countAt, promptTokens, type Usage } from "../../canon/usage.ts";

/**
 * `prompt_tokens` includes cached ones and `completion_tokens` includes reasoning, but some hosts leave reasoning out of
 * `completion_tokens` and only `total_tokens` tells. Hosts put the cached count in three different places.
 */
export function decodeUsage(raw: unknown): Usage | undefined {
  const prompt = countAt(raw, "prompt_tokens");
  if (prompt === undefined) return undefined;
  const promptDetails = objectAt(raw, "prompt_tokens_details");
  const cacheRead =
    countAt(promptDetails, "cached_tokens") ?? countAt(raw, "prompt_cache_hit_tokens") ?? countAt(raw, "cached_tokens");
  const cacheWrite = countAt(promptDetails, "cache_write_tokens");
  const completion = countAt(raw, "completion_tokens");
  const reasoning =
    countAt(objectAt(raw, "completion_tokens_details"), "reasoning_tokens") ?? countAt(raw, "reasoning_tokens");
  const generated = Math.max(completion ?? 0, (countAt(raw, "total_tokens") ?? 0) - prompt);
  const thought =
    reasoning ?? (completion !== undefined && generated > completion ? generated - completion : undefined);
  const searches =
    countAt(objectAt(raw, "server_tool_use_details"), "web_search_requests") ??
    countAt(objectAt(raw, "server_tool_use"), "web_search_requests");
  const usage: Usage = { input: Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)) };
  // A host that tells nothing of its answer has not made it for nothing.
  if (completion !== undefined || generated > 0) usage.output = Math.max(0, generated - (thought ?? 0));
  if (cacheRead !== undefined) usage.cacheRead = cacheRead;
  if (cacheWrite !== undefined) usage.cacheWrite5m = cacheWrite;
  if (thought !== undefined) usage.reasoning = thought;
  if (searches) usage.searches = searches;
  return usage;
}

/** The same sums back; the two ages of a cache's entries are one number in this protocol. */
export function encodeUsage(usage: Usage, costUsd?: number): JsonObject {
  const { cacheRead, cacheWrite5m, cacheWrite1h, reasoning, searches } = usage;
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const cacheWrite =
    cacheWrite5m === undefined && cacheWrite1h === undefined ? undefined : (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cacheRead === undefined && cacheWrite === undefined
      ? {}
      : {
          prompt_tokens_details: {
            ...(cacheRead === undefined ? {} : { cached_tokens: cacheRead }),
            ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
          },
        }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(searches === undefined ? {} : { server_tool_use: { web_search_requests: searches } }),
    ...(costUsd === undefined ? {} : { cost: costUsd }),
  };
}
