import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { unknownName } from "./errors.ts";

/** Members that hold the caller's own data: their keys are not field names. */
const OPAQUE = new Set(["args", "response", "labels", "responseJsonSchema", "parametersJsonSchema", "metadata"]);

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Google's JSON may spell fields as in the proto file: `mime_type` is `mimeType`. */
export function withCamelNames(value: Json): Json {
  if (Array.isArray(value)) return value.map(withCamelNames);
  if (!isObject(value)) return value;
  const renamed: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = camelCase(key);
    if (OPAQUE.has(name)) {
      renamed[name] = member;
    } else if (name === "properties" && isObject(member)) {
      renamed[name] = Object.fromEntries(Object.entries(member).map(([own, schema]) => [own, withCamelNames(schema)]));
    } else {
      renamed[name] = withCamelNames(member);
    }
  }
  return renamed;
}

/** Google refuses every field that its proto file does not have. */
export function refuseUnknown(object: JsonObject, known: ReadonlySet<string>, path: string): void {
  for (const name of Object.keys(object)) if (!known.has(name)) throw unknownName(name, path);
}
