import { numberAt, objectAt } from "../../canon/json.ts";
import type { Usage } from "../../canon/usage.ts";

/** `input_tokens` excludes cached ones; `output_tokens` includes thinking, whose part newer hosts tell apart. */
export function decodeUsage(raw: unknown): Usage | undefined {
  const input = numberAt(raw, "input_tokens");
  const output = numberAt(raw, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const cacheRead = numberAt(raw, "cache_read_input_tokens");
  const written = numberAt(raw, "cache_creation_input_tokens");
  const byAge = objectAt(raw, "cache_creation");
  const hour = numberAt(byAge, "ephemeral_1h_input_tokens");
  const minutes =
    numberAt(byAge, "ephemeral_5m_input_tokens") ?? (written === undefined ? undefined : written - (hour ?? 0));
  const reasoning = numberAt(objectAt(raw, "output_tokens_details"), "thinking_tokens");
  const searches = numberAt(objectAt(raw, "server_tool_use"), "web_search_requests");
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
