import { UPSTREAM_DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { arrayAt, type JsonObject, stringAt } from "../../canon/json.ts";

/** Origins that no chat host has: the families of the other dialects. */
const FOREIGN: ReadonlySet<string> = new Set(UPSTREAM_DIALECT_NAMES.filter((name) => name !== "chat"));

/** Whether the history holds a value of another family, which this gateway gave the client to send back. */
export function carriesForeign(body: JsonObject): boolean {
  return arrayAt(body, "messages").some((message) =>
    arrayAt(message, "reasoning_details").some((detail) => FOREIGN.has(stringAt(detail, "format") ?? "")),
  );
}
