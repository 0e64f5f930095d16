import type { FieldNote } from "../../canon/receipt.ts";
import type { AttemptRecord, Call } from "../call.ts";
import { identityHeaders } from "./identity-headers.ts";

/** What the response headers report about an admitted call, whether it succeeded or not. */
export interface NotedCall extends Pick<Call, "receiptId"> {
  /** Absent if this response repeats an earlier call. */
  admission: Pick<Call["admission"], "addRateHeaders"> | undefined;
  attempt: Pick<AttemptRecord, "notes"> | undefined;
}

type AnsweredCall = NotedCall & { incoming: Pick<Call["incoming"], "dialect" | "requestId"> };

/** The maximum length of a header that lists paths. */
const MAX_PATHS_HEADER = 2000;

/** The headers of every response to a call. None of the upstream's headers are passed on (S10). */
export function answerHeaders(call: AnsweredCall, contentType: string): Record<string, string> {
  const headers = identityHeaders(call.incoming.dialect, call.incoming.requestId);
  headers["content-type"] = contentType;
  return addReceiptHeaders(headers, call);
}

/** The same for a streamed response, which no proxy may buffer. */
export function streamHeaders(call: AnsweredCall, contentType: string): Record<string, string> {
  const headers = answerHeaders(call, contentType);
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return headers;
}

/** The receipt id, the rate limits, and the fields that were not honoured. Also set on calls that are rejected (choices 6). */
export function addReceiptHeaders(
  headers: Record<string, string>,
  { receiptId, admission, attempt }: NotedCall,
): Record<string, string> {
  headers["x-trivium-receipt"] = receiptId;
  admission?.addRateHeaders(headers);
  if (attempt === undefined || attempt.notes.length === 0) return headers;
  addPaths(headers, "x-trivium-dropped", attempt.notes, "dropped");
  addPaths(headers, "x-trivium-approximated", attempt.notes, "approximated");
  return headers;
}

function addPaths(
  headers: Record<string, string>,
  name: string,
  notes: readonly FieldNote[],
  action: FieldNote["action"],
): void {
  const paths = new Set(notes.filter((note) => note.action === action).map((note) => note.path));
  if (paths.size === 0) return;
  headers[name] = [...paths]
    .join(",")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_PATHS_HEADER);
}
