import type { Stop, UnifiedStop } from "../../../canon/stop.ts";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool"],
  ["pause_turn", "pause"],
  ["refusal", "filter"],
]);

const WORD: Readonly<Record<UnifiedStop, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool: "tool_use",
  filter: "refusal",
  pause: "pause_turn",
  // A client must not take it for a complete answer. `stop_details` has the original.
  abnormal: "refusal",
  other: "end_turn",
};

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

/** The upstream's raw stop reason if it belongs to this dialect and means the same; otherwise the dialect's own. */
export function encodeStop({ unified, raw }: Stop, stopSequence?: string): string {
  if (unified === "stop" && stopSequence !== undefined) return "stop_sequence";
  return UNIFIED.get(raw) === unified ? raw : WORD[unified];
}
