import type { JsonObject } from "../../base/json.ts";
import type { TextPart } from "../../canon/part.ts";
import { withExtras } from "./part-fields.ts";
import { cacheControl, ownExtras, pathIn, type RequestScope } from "./request/request-scope.ts";

export function encodeText(part: TextPart, scope: RequestScope): JsonObject {
  noteCitations(part, scope);
  if (part.signature !== undefined) {
    scope.notes.dropped(pathIn(scope, part, "signature"), "the signature belongs to another provider");
  }
  const wire = { type: "text", text: part.text, ...cacheControl(scope, part) };
  return withExtras(wire, ownExtras(scope, part.extras));
}

/** The protocol has citations only in responses, for people to read. */
export function noteCitations(part: TextPart, scope: RequestScope): void {
  if (part.citations === undefined || part.citations.length === 0) return;
  scope.notes.dropped(pathIn(scope, part, "citations"), "this protocol does not accept citations in the history");
}
