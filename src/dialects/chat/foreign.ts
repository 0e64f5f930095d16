import { UPSTREAM_DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { arrayAt, type JsonObject, stringAt } from "../../canon/json.ts";

/** Origins that no chat host has: the families of the other dialects. */
const FOREIGN: ReadonlySet<string> = new Set(UPSTREAM_DIALECT_NAMES.filter((name) => name !== "chat"));

const isForeign = (detail: unknown): boolean => FOREIGN.has(stringAt(detail, "format") ?? "");
const holdsForeign = (message: unknown): boolean => arrayAt(message, "reasoning_details").some(isForeign);

/** Whether the history holds a value of another family, which this gateway gave the client to send back. */
export const carriesForeign = (body: JsonObject): boolean => arrayAt(body, "messages").some(holdsForeign);
