import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { CacheMark } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import { encodeBreakpoint } from "../../request/cache-breakpoints.ts";
import type { ChatQuirks } from "../quirks.ts";

/** What every step of writing a request needs. */
export interface RequestScope {
  call: CanonCall;
  context: EncodeRequestContext<ChatQuirks>;
  notes: Notes;
}

/** Where a field of a part or a tool stood in the client's request. */
export function pathIn(scope: RequestScope, holder: { path?: string }, field: FieldName): string {
  return fieldPath(scope.call.fieldNames, holder, field);
}

/** The fields that only this dialect knows: they go back where they came from, and a client of another one has none. */
export function ownExtras(scope: RequestScope, extras: JsonObject | undefined): JsonObject {
  return scope.call.dialect === "chat" && extras !== undefined ? extras : {};
}

interface Marked {
  path?: string;
  cache?: CacheMark;
}

/** The host takes the vendor's own marks, for the models that do. */
export const takesBreakpoints = ({ context: { quirks, traits } }: RequestScope): boolean =>
  quirks.cacheBreakpoints && traits.cacheBreakpoints === true;

/** The mark on a content part where the host takes it. Hosts that cache by themselves lose nothing without it, but for a request for a time. */
export function cacheControl(scope: RequestScope, holder: Marked): JsonObject {
  const { cache } = holder;
  if (cache === undefined) return {};
  const own = scope.call.dialect === "chat" && cache.field !== undefined;
  if (!scope.context.quirks.cacheControl && (own || takesBreakpoints(scope))) {
    const approximate = (reason: string) => scope.notes.approximated(pathIn(scope, holder, "cache"), reason);
    return encodeBreakpoint(cache, approximate);
  }
  return toolCacheControl(scope, holder);
}

/** The same on a tool, which the vendor's own marks are not made for. */
export function toolCacheControl(scope: RequestScope, holder: Marked): JsonObject {
  const { cache } = holder;
  if (cache === undefined) return {};
  const { ttl } = cache;
  if (scope.context.quirks.cacheControl) {
    return { cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } };
  }
  if (ttl !== undefined) {
    scope.notes.dropped(pathIn(scope, holder, "cache"), "this provider decides how long to cache");
  }
  return {};
}
