import { isObject, type JsonObject } from "../../base/json.ts";
import type { Fields } from "../../canon/fields.ts";
import type { CacheMark } from "../../canon/part.ts";
import { takeBreakpoint } from "../request/cache-breakpoints.ts";

/** `cache_control` on a content part, which several providers of this protocol accept, or the vendor's own mark. */
export function takeCache(fields: Fields): { cache?: CacheMark } {
  const mark = fields.object("cache_control");
  if (mark === undefined) return takeBreakpoint(fields);
  const { ttl } = mark;
  return { cache: ttl === "5m" || ttl === "1h" ? { ttl } : {} };
}

/** The unread fields of an object and of its inner object, in their original shape. */
export function takeExtras(fields: Fields, innerKey?: string, inner?: Fields): { extras?: JsonObject } {
  const innerRest = inner?.rest();
  const rest = fields.rest();
  if (innerRest === undefined || innerKey === undefined) return rest === undefined ? {} : { extras: rest };
  return { extras: { ...rest, [innerKey]: innerRest } };
}

/** The reverse, merged one level deep. */
export function withExtras(object: JsonObject, extras: JsonObject): JsonObject {
  const added = Object.entries(extras);
  if (added.length === 0) return object;
  const merged = new Map(Object.entries(object));
  for (const [key, value] of added) {
    const present = merged.get(key);
    merged.set(key, isObject(present) && isObject(value) ? { ...present, ...value } : value);
  }
  return Object.fromEntries(merged);
}
