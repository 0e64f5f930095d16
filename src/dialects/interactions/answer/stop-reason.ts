import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import type { Stop, UnifiedStop } from "../../../canon/stop.ts";
import { explainStop, needsOriginal } from "../../answer/stop-details.ts";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["completed", "stop"],
  ["requires_action", "tool"],
  ["incomplete", "length"],
  ["budget_exceeded", "length"],
  // The host's limit for one request. It continues only an interaction that it stores itself.
  ["requires_continuation", "length"],
]);

const WORD: Readonly<Record<UnifiedStop, string>> = {
  stop: "completed",
  length: "incomplete",
  tool: "requires_action",
  filter: "incomplete",
  pause: "incomplete",
  abnormal: "incomplete",
  other: "completed",
};

/** The codes of the errors that tell a filtered or abnormal response from one that reached its limit. */
const BLOCKED = "content_blocked";
const STOPPED_EARLY = "stopped_early";
const BLOCKED_CODE = /safety|block|prohibit|recitation|filter/i;

/** A host may report calls without waiting for their results. */
export function decodeStop(interaction: JsonObject, hasCalls: boolean): Stop {
  const raw = stringAt(interaction, "status") ?? "";
  const unified = UNIFIED.get(raw) ?? "other";
  if (isBlocked(interaction)) return { unified: "filter", raw };
  return { unified: unified === "stop" && hasCalls ? "tool" : unified, raw };
}

const isBlocked = (interaction: JsonObject): boolean =>
  stringAt(interaction, "status") === "incomplete" &&
  arrayAt(interaction, "errors").some((error) => BLOCKED_CODE.test(stringAt(error, "code") ?? ""));

/** A client would try to continue the interaction at a host that did not store it. */
export const statusOf = (status: string): string => (status === "requires_continuation" ? WORD.length : status);

/** The protocol has no status for a response that was filtered or stopped early, so an error explains it. */
export function encodeStop({ stop, stopDetail }: Pick<CanonReply, "stop" | "stopDetail">): JsonObject {
  const { unified, raw } = stop;
  const status = UNIFIED.get(raw) === unified ? statusOf(raw) : WORD[unified];
  if (unified === "filter") {
    const message = stopDetail ?? "The provider's content filter ended the response.";
    return { status, errors: [{ code: BLOCKED, message }] };
  }
  const message = explainStop({ stop, ...withoutAbsent({ stopDetail }) });
  return needsOriginal(stop) ? { status, errors: [{ code: STOPPED_EARLY, message }] } : { status };
}

const FAILED: ReadonlySet<string | undefined> = new Set(["failed", "cancelled"]);

/** The failure of an interaction with a status of success. */
export function failureIn(interaction: JsonObject): GatewayError | undefined {
  const status = stringAt(interaction, "status");
  if (!FAILED.has(status)) return undefined;
  const [first] = arrayAt(interaction, "errors");
  const reported = stringAt(first, "message");
  const said = reported === undefined ? "" : `: ${reported}`;
  return new GatewayError("upstream_failed", `The provider ended the interaction early (${status})${said}`);
}
