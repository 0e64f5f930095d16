import type { JsonObject } from "../../base/json.ts";
import { mergeExtras } from "../../canon/extras.ts";
import type { Fields } from "../../canon/fields.ts";

/**
 * What was not read of an object and of the object inside it that holds its data. The inner fields keep their way, as in
 * `functionResponse.scheduling`, so that a receipt points at them and they can be put back where they stood.
 */
export function leftOver(outer: Fields, inner?: { name: string; fields: Fields }): { extras?: JsonObject } {
  const own = Object.entries(outer.rest() ?? {});
  const nested = Object.entries(inner?.fields.rest() ?? {}).map(([key, value]) => [`${inner?.name}.${key}`, value]);
  const extras = Object.fromEntries([...own, ...nested]) as JsonObject;
  return Object.keys(extras).length === 0 ? {} : { extras };
}

export function putBack(object: JsonObject, extras: JsonObject | undefined): JsonObject {
  const entries = Object.entries(extras ?? {}).map(([key, value]) => ({ keys: key.split("."), value }));
  return mergeExtras(object, entries);
}
