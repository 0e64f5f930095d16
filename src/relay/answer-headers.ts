import type { Call } from "./call.ts";
import { identityHeaders } from "./identity-headers.ts";

/** What the headers of an answer say of a call. */
type AnsweredCall = Pick<Call, "receiptId" | "admission" | "notes"> & {
  incoming: Pick<Call["incoming"], "dialect" | "requestId">;
};

/** Longest list of paths that a header is asked to carry. */
const MAX_DROPPED_HEADER = 2000;

/** The headers of every answer to a call: ours alone, whatever the upstream sent (S10). */
export function answerHeaders(call: AnsweredCall, contentType: string): Record<string, string> {
  const headers = identityHeaders(call.incoming.dialect, call.incoming.requestId);
  headers["content-type"] = contentType;
  headers["x-trivium-receipt"] = call.receiptId;
  for (const name in call.admission.rateHeaders) headers[name] = call.admission.rateHeaders[name] ?? "";
  if (call.notes.length > 0) {
    headers["x-trivium-dropped"] = call.notes
      .map((note) => note.path)
      .join(",")
      .replace(/[^\x20-\x7e]/g, "?")
      .slice(0, MAX_DROPPED_HEADER);
  }
  return headers;
}
