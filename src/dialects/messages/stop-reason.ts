import type { Stop, UnifiedStop } from "../../canon/stop.ts";

const UNIFIED: Readonly<Record<string, UnifiedStop>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool",
  pause_turn: "pause",
  refusal: "filter",
};

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED[raw] ?? "other", raw });
