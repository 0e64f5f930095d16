import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import type { FieldName } from "../../../canon/field-names.ts";
import { fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { Part } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import type { GenaiQuirks } from "../quirks.ts";

/** What every step of the encoding of one request needs. */
export interface EncodeScope {
  call: CanonCall;
  context: EncodeRequestContext<GenaiQuirks>;
  notes: Notes;
}

/** A field of a part, a turn or a tool in the client's own spelling. */
export const fieldPathOf = ({ call }: EncodeScope, item: { path?: string }, field: FieldName): string =>
  fieldPath(call.fieldNames, item, field);

/** Where a part stood; parts without a path come from nowhere in the request, and could not be found there. */
export const pathOf = (part: Part): string => part.path ?? "";

/** A part's signature, where the target made it; else it is left out and noted. */
export function upstreamSignature(part: Part, scope: EncodeScope): JsonObject {
  const { signature } = part;
  if (signature === undefined) return {};
  if (signature.origin === scope.context.origin) return { thoughtSignature: signature.value };
  scope.notes.dropped(fieldPathOf(scope, part, "signature"), "a signature goes back only to the provider that made it");
  return {};
}

/** A mark without an age asks for nothing that the target does not do by itself. */
export function noteCacheMark(item: { cache?: { ttl?: string }; path?: string }, scope: EncodeScope): void {
  if (item.cache?.ttl === undefined) return;
  scope.notes.dropped(fieldPathOf(scope, item, "cache"), "this provider caches by itself and takes no age for it");
}
