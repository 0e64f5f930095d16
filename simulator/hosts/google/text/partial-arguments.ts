import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { fragments } from "../../../text/tokens.ts";

function step(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The arguments leaf by leaf: strings in fragments with an empty one at the end, other values whole. */
export function partialArguments(value: Json, path = "$"): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => partialArguments(item, `${path}[${at}]`));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => partialArguments(item, step(path, key)));
  if (typeof value === "string") {
    const sent = fragments(value, 3).map((fragment) => ({
      jsonPath: path,
      stringValue: fragment.text,
      willContinue: true,
    }));
    return [...sent, { jsonPath: path, stringValue: "" }];
  }
  if (typeof value === "number") return [{ jsonPath: path, numberValue: value }];
  if (typeof value === "boolean") return [{ jsonPath: path, boolValue: value }];
  return [{ jsonPath: path, nullValue: "NULL_VALUE" }];
}
