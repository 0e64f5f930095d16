import type { JsonObject } from "../../base/json.ts";
import { mergeExtras } from "../../canon/extras.ts";
import type { Fields } from "../../canon/fields.ts";

/**
 * The unread fields of an object and of the inner object that holds its data. Inner fields keep their path, as in
 * `functionResponse.scheduling`, so that a receipt can name them and the encoder can restore them.
 */
export function leftOver(outer: Fields, inner?: { name: string; fields: Fields }): { extras?: JsonObject } {
  const own = outer.rest();
  const nested = inner?.fields.rest();
  if (nested === undefined) return own === undefined ? {} : { extras: own };
  const moved = Object.entries(nested).map(([key, value]): [string, unknown] => [`${inner?.name}.${key}`, value]);
  return { extras: Object.fromEntries([...Object.entries(own ?? {}), ...moved]) };
}

export function restoreExtras(object: JsonObject, extras: JsonObject | undefined): JsonObject {
  const entries = Object.entries(extras ?? {}).map(([key, value]) => ({ keys: key.split("."), value }));
  return mergeExtras(object, entries);
}
