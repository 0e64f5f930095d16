import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { Part } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import type { InteractionsQuirks } from "../quirks.ts";
import { OWN_ORIGIN } from "../signature.ts";

/** What every step of encoding a request needs. */
export interface EncodeScope {
  call: CanonCall;
  context: EncodeRequestContext<InteractionsQuirks>;
  notes: Notes;
}

/** The client speaks this dialect too, so that what only this dialect has is sent. */
export const isOwn = ({ call }: EncodeScope): boolean => call.dialect === OWN_ORIGIN;

/** The path of a field of a part, a turn or a tool in the client's spelling. */
export const fieldPathOf = ({ call }: EncodeScope, item: { path?: string }, field: FieldName): string =>
  fieldPath(call.fieldNames, item, field);

/** Where a part was in the request; empty for parts that were not in it. */
export const pathOf = (part: Part): string => part.path ?? "";

/** A part's signature if the target made it; otherwise it is dropped and noted. */
export function upstreamSignature(part: Part, scope: EncodeScope): { signature?: string } {
  const { signature } = part;
  if (signature === undefined) return {};
  if (signature.origin === scope.context.origin && signature.kind === "signature")
    return { signature: signature.value };
  scope.notes.dropped(
    fieldPathOf(scope, part, "signature"),
    "only the provider that created the signature can read it",
  );
  return {};
}

/** A mark without an age requests nothing beyond what the target does anyway. */
export function noteCacheMark(item: { cache?: { ttl?: string }; path?: string }, scope: EncodeScope): void {
  if (item.cache?.ttl === undefined) return;
  scope.notes.dropped(fieldPathOf(scope, item, "cache"), "this provider caches automatically and accepts no lifetime");
}
