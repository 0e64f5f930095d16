import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { Stop, UnifiedStop } from "../../../canon/stop.ts";

/** Why a response is incomplete. */
const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "filter"],
]);

/** A client must not take a paused or unusable response for a complete one. `stop_details` has the original reason. */
const REASON_OF_STOP: Partial<Record<UnifiedStop, string>> = {
  length: "max_output_tokens",
  filter: "content_filter",
  pause: "max_output_tokens",
  abnormal: "content_filter",
};

/** A complete response does not say whether it ends in calls. Its items show it (R19). */
export function decodeStop(response: unknown, hasCalls: boolean): Stop {
  const status = stringAt(response, "status") ?? "completed";
  if (status !== "incomplete") return { unified: hasCalls ? "tool" : "stop", raw: status };
  const raw = stringAt(objectAt(response, "incomplete_details"), "reason") ?? status;
  return { unified: UNIFIED.get(raw) ?? "other", raw };
}

interface WireStop {
  status: "completed" | "incomplete";
  incomplete_details: JsonObject | null;
}

export function encodeStop({ unified }: Stop): WireStop {
  const reason = REASON_OF_STOP[unified];
  return reason === undefined
    ? { status: "completed", incomplete_details: null }
    : { status: "incomplete", incomplete_details: { reason } };
}
