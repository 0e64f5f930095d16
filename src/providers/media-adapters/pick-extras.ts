import type { JsonObject } from "../../base/json.ts";

/** The client's extra fields that this provider documents. */
export function pickExtras(extras: JsonObject, documented: readonly string[]): JsonObject {
  return Object.fromEntries(documented.flatMap((name) => (extras[name] === undefined ? [] : [[name, extras[name]]])));
}
