import type { Stop, UnifiedStop } from "../../canon/stop.ts";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool"],
  ["content_filtered", "filter"],
  ["guardrail_intervened", "filter"],
  ["malformed_model_output", "abnormal"],
  ["malformed_tool_use", "abnormal"],
]);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

/** Without other content, a response that ended so is a failure (H16). */
export const isFailureWord = (raw: string): boolean => decodeStop(raw).unified === "abnormal";
