import type { Stop, UnifiedStop } from "../../canon/stop.ts";

/** `malformed_model_output` and `malformed_tool_use` have no equivalent elsewhere. They become `other`, with the original term. */
const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool"],
  ["content_filtered", "filter"],
  ["guardrail_intervened", "filter"],
]);

/** Stop reasons for malformed output of the model. Without other content, the response is a failure (H16). */
const FAILURE = /^malformed_/;

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

export const isFailureWord = (raw: string): boolean => FAILURE.test(raw);
