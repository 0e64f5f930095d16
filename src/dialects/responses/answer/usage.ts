import { isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { completionTokens, countAt, MAX_UNKNOWN_COUNTERS, promptTokens, type Usage } from "../../../canon/usage.ts";
import { generatedTokens } from "../../answer/generated-tokens.ts";
import { unknownCounters, unknownToolCounters } from "../../answer/unknown-counters.ts";
import { promptCounts } from "../../request/prompt-counts.ts";
import { CALLS, TOOL_CALLS } from "./hosted-tool-uses.ts";
import { KNOWN_COUNTERS } from "./known-counters.ts";

/** `input_tokens` includes cached tokens (R31). `output_tokens` includes reasoning, except at some providers. */
export function decodeUsage(raw: unknown): Usage | undefined {
  const prompt = countAt(raw, "input_tokens");
  if (prompt === undefined || !isObject(raw)) return undefined;
  const details = objectAt(raw, "input_tokens_details");
  const completion = countAt(raw, "output_tokens");
  const reasoning = countAt(objectAt(raw, "output_tokens_details"), "reasoning_tokens");
  const total = countAt(raw, "total_tokens");
  const usage: Usage = promptCounts({
    prompt,
    cacheRead: countAt(details, "cached_tokens"),
    cacheWrite: countAt(details, "cache_write_tokens"),
    leftByTotal: total === undefined ? undefined : total - (completion ?? 0),
  });
  const generated = generatedTokens({ completion, reasoning, behindPrompt: (total ?? 0) - promptTokens(usage) });
  if (generated !== undefined) {
    usage.output = generated.said;
    if (generated.thought !== undefined) usage.reasoning = generated.thought;
  }
  const unknown = [
    ...(unknownCounters("usage", raw, KNOWN_COUNTERS) ?? []),
    ...unknownToolCounters(`usage.${TOOL_CALLS}`, objectAt(raw, TOOL_CALLS), CALLS),
  ];
  if (unknown.length > 0) usage.unknown = unknown.slice(0, MAX_UNKNOWN_COUNTERS);
  return usage;
}

/** The reverse, with all details, because clients read each of the numbers. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, reasoning = 0 } = usage;
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite5m + cacheWrite1h },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
