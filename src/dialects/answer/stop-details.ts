import type { JsonObject } from "../../base/json.ts";
import type { CanonReply } from "../../canon/reply.ts";
import type { Stop } from "../../canon/stop.ts";

type Explained = Pick<CanonReply, "stop" | "stopDetail" | "stopCategory">;

/** A provider's stop reason is a word, not a sentence. */
const MAX_WORD = 64;

/** The provider's own stop reason, cut to the length of a word. */
export const stopWord = ({ raw }: Stop): string => raw.slice(0, MAX_WORD);

/** Whether a response ended in a way for which most protocols have no word, so that its original reason must stand beside the nearest one. */
export const needsOriginal = ({ unified, raw }: Stop): boolean =>
  (unified === "pause" || unified === "abnormal") && raw !== "";

/** The provider's explanation, after its own stop reason if most protocols have no word for that. */
export function explainStop({ stop, stopDetail }: Pick<Explained, "stop" | "stopDetail">): string | undefined {
  if (!needsOriginal(stop)) return stopDetail;
  const original = `The provider stopped with ${stopWord(stop)}`;
  return stopDetail === undefined ? `${original}.` : `${original}: ${stopDetail}`;
}

/**
 * The provider's explanation of why it stopped, as messages clients know it. Chat and Responses have no field for it, so their
 * responses get this one in addition to their own stop reason. Empty if there is no explanation.
 */
export function stopDetails(reply: Explained): { stop_details?: JsonObject } {
  const { stop, stopCategory } = reply;
  const explanation = explainStop(reply);
  if (explanation === undefined && stopCategory === undefined) return NONE;
  const type = stop.unified === "filter" || stop.unified === "abnormal" ? "refusal" : "other";
  return { stop_details: { type, category: stopCategory ?? null, explanation: explanation ?? null } };
}

const NONE = {};
