import type { Stop, UnifiedStop } from "../../canon/stop.ts";

/** `malformed_model_output` and `malformed_tool_use` have no equal elsewhere: they are `other`, with their own word kept. */
const UNIFIED: Readonly<Record<string, UnifiedStop>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool",
  content_filtered: "filter",
  guardrail_intervened: "filter",
};

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED[raw] ?? "other", raw });
