import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { Part } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import type { ResponsesQuirks } from "../quirks.ts";
import type { Namespaces } from "./namespaces.ts";

/** What every step of encoding a request needs. */
export interface RequestScope {
  call: CanonCall;
  context: EncodeRequestContext<ResponsesQuirks>;
  notes: Notes;
  /** The namespaces in items that this dialect gets back. Those of the request's own list are flattened. */
  loaded: Namespaces | undefined;
}

/** Whether the client also uses this dialect, so that its own fields are restored. */
export const isOwn = ({ call }: RequestScope): boolean => call.dialect === "responses";

/** The path of a field in the client's request. */
export const pathIn = ({ call }: RequestScope, holder: { path?: string }, field: FieldName): string =>
  fieldPath(call.fieldNames, holder, field);

/** The provider accepts marks of cached prefixes, for models that support them. */
export const takesBreakpoints = ({ context: { quirks, traits } }: RequestScope): boolean =>
  quirks.cacheBreakpoints && traits.cacheBreakpoints === true;

export const knowsTool = ({ context }: RequestScope, type: string): boolean =>
  context.quirks.toolTypes?.includes(type) ?? true;

export const ownExtras = (scope: RequestScope, extras: JsonObject | undefined): JsonObject =>
  isOwn(scope) ? (extras ?? {}) : {};

export function leaveOut(part: Part, { notes }: RequestScope): void {
  const what = part.type === "native" ? part.name : part.type;
  notes.dropped(part.path ?? what, `this provider's protocol has no equivalent (${what})`);
}
