import type { LiveEndReason, LiveTurnStatus } from "../../canon/live.ts";

interface TurnEnd {
  status: LiveTurnStatus;
  reason?: LiveEndReason;
}

/** The host's own failures, in which nothing was filtered. */
const FAILURES: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "RESPONSE_REJECTED",
  "MAX_REGENERATION_REACHED",
]);
const PLAIN: ReadonlySet<string> = new Set(["TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT"]);

/** How a turn ended, by its `turnCompleteReason`. All the others name what a filter found. */
export function decodeEnd(raw: string | undefined): TurnEnd {
  if (raw === undefined || PLAIN.has(raw)) return { status: "completed" };
  if (FAILURES.has(raw)) return { status: "failed" };
  return { status: "incomplete", reason: "content_filter" };
}

/** Undefined for an end that needs no reason, or for which the protocol has no word. */
export function encodeEnd({ status, reason }: TurnEnd): string | undefined {
  if (reason === "content_filter") return "GENERATED_CONTENT_SAFETY";
  return status === "failed" ? "RESPONSE_REJECTED" : undefined;
}
