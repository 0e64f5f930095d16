import { type JsonObject, objectAt } from "../../canon/json.ts";
import { completionTokens, countAt, type Usage } from "../../canon/usage.ts";

/** What a stream's first event tells of the prompt. Of the answer it can only know a beginning, which must not pass for a count. */
export function promptUsage(raw: JsonObject | undefined): JsonObject | undefined {
  if (raw === undefined) return undefined;
  const { output_tokens: _begun, ...prompt } = raw;
  return prompt;
}

/** `input_tokens` excludes cached ones; `output_tokens` includes thinking, whose part newer hosts tell apart. */
export function decodeUsage(raw: unknown): Usage | undefined {
  const input = countAt(raw, "input_tokens");
  const output = countAt(raw, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const cacheRead = countAt(raw, "cache_read_input_tokens");
  const written = countAt(raw, "cache_creation_input_tokens");
  const byAge = objectAt(raw, "cache_creation");
  const hour = countAt(byAge, "ephemeral_1h_input_tokens");
  const minutes =
    countAt(byAge, "ephemeral_5m_input_tokens") ??
    (written === undefined ? undefined : Math.max(0, written - (hour ?? 0)));
  const reasoning = countAt(objectAt(raw, "output_tokens_details"), "thinking_tokens");
  const searches = countAt(objectAt(raw, "server_tool_use"), "web_search_requests");
  return {
    ...(input === undefined ? {} : { input }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(minutes === undefined ? {} : { cacheWrite5m: minutes }),
    ...(hour === undefined ? {} : { cacheWrite1h: hour }),
    ...(output === undefined ? {} : { output: Math.max(0, output - (reasoning ?? 0)) }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(searches ? { searches } : {}),
  };
}

/** What stands in for a count that the upstream never told: clients of this dialect cannot do without one. */
export interface UsageEstimate {
  input: () => number;
  output: () => number;
}

/**
 * Clients add the counters of the prompt up, so that all of them are there: a cache that nobody spoke of counts 0. The
 * sums are those of the usage that is billed.
 */
export function encodeUsage(usage: Usage | undefined, estimate: UsageEstimate): JsonObject {
  const { input, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, output, reasoning, searches = 0 } = usage ?? {};
  const told = output !== undefined || reasoning !== undefined;
  return {
    input_tokens: input ?? estimate.input(),
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: told ? completionTokens(usage ?? {}) : estimate.output(),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
    server_tool_use: { web_search_requests: searches },
    service_tier: "standard",
  };
}
