import type { JsonObject } from "../../base/json.ts";

/** Of the fields that only one provider knows, those that this one documents. */
export function pickExtras(extras: JsonObject, documented: readonly string[]): JsonObject {
  return Object.fromEntries(documented.flatMap((name) => (extras[name] === undefined ? [] : [[name, extras[name]]])));
}
