import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { CacheMark } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import { encodeBreakpoint } from "../../request/cache-breakpoints.ts";
import type { ChatQuirks } from "../quirks.ts";

/** What every step of encoding a request needs. */
export interface RequestScope {
  call: CanonCall;
  context: EncodeRequestContext<ChatQuirks>;
  notes: Notes;
}

/** The path of a field in the client's request. */
export function pathIn(scope: RequestScope, holder: { path?: string }, field: FieldName): string {
  return fieldPath(scope.call.fieldNames, holder, field);
}

/** Fields that exist only in this dialect. They are restored for its own clients; clients of other dialects have none. */
export function ownExtras(scope: RequestScope, extras: JsonObject | undefined): JsonObject {
  return scope.call.dialect === "chat" && extras !== undefined ? extras : {};
}

interface Marked {
  path?: string;
  cache?: CacheMark;
}

/** The provider accepts the vendor's own marks, for models that support them. */
export const takesBreakpoints = ({ context: { quirks, traits } }: RequestScope): boolean =>
  quirks.cacheBreakpoints && traits.cacheBreakpoints === true;

/**
 * The mark on a content part, if the provider accepts it. Providers that cache automatically lose nothing without it except a requested
 * lifetime.
 */
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

/** The same on a tool, which the vendor's own marks do not support. */
export function toolCacheControl(scope: RequestScope, holder: Marked): JsonObject {
  const { cache } = holder;
  if (cache === undefined) return {};
  const { ttl } = cache;
  if (scope.context.quirks.cacheControl) {
    return { cache_control: { type: "ephemeral", ...withoutAbsent({ ttl }) } };
  }
  if (ttl !== undefined) {
    scope.notes.dropped(pathIn(scope, holder, "cache"), "this provider decides how long to cache");
  }
  return {};
}
