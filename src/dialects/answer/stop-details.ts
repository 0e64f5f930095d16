import type { JsonObject } from "../../base/json.ts";
import type { CanonReply } from "../../canon/reply.ts";

type Explained = Pick<CanonReply, "stop" | "stopDetail" | "stopCategory">;

/**
 * The provider's explanation of why it stopped, as messages clients know it. Chat and Responses have no field for it, so their
 * responses get this one in addition to their own stop reason. Empty if there is no explanation.
 */
export function stopDetails({ stop, stopDetail, stopCategory }: Explained): { stop_details?: JsonObject } {
  if (stopDetail === undefined && stopCategory === undefined) return NONE;
  const type = stop.unified === "filter" ? "refusal" : "other";
  return { stop_details: { type, category: stopCategory ?? null, explanation: stopDetail ?? null } };
}

const NONE = {};
