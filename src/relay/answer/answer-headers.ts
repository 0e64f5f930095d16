import type { FieldNote } from "../../canon/receipt.ts";
import type { AttemptRecord, Call } from "../call.ts";
import { identityHeaders } from "./identity-headers.ts";

/** What the headers of an answer say of an admitted call, whether it succeeded or not. */
export interface NotedCall extends Pick<Call, "receiptId"> {
  /** Absent where the call of this answer was admitted before. */
  admission: Pick<Call["admission"], "addRateHeaders"> | undefined;
  attempt: Pick<AttemptRecord, "notes"> | undefined;
}

type AnsweredCall = NotedCall & { incoming: Pick<Call["incoming"], "dialect" | "requestId"> };

/** Longest list of paths that a header is asked to carry. */
const MAX_PATHS_HEADER = 2000;

/** The headers of every answer to a call: ours alone, whatever the upstream sent (S10). */
export function answerHeaders(call: AnsweredCall, contentType: string): Record<string, string> {
  const headers = identityHeaders(call.incoming.dialect, call.incoming.requestId);
  headers["content-type"] = contentType;
  return addReceiptHeaders(headers, call);
}

/** The same of a streamed answer: no proxy on the way may hold it back. */
export function streamHeaders(call: AnsweredCall, contentType: string): Record<string, string> {
  const headers = answerHeaders(call, contentType);
  headers["cache-control"] = "no-cache";
  headers["x-accel-buffering"] = "no";
  return headers;
}

/** Its receipt, its limits, and the fields of its request that were not honoured: also of a call that is refused (choices 6). */
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
  const paths = notes.filter((note) => note.action === action).map((note) => note.path);
  if (paths.length === 0) return;
  headers[name] = paths
    .join(",")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_PATHS_HEADER);
}
