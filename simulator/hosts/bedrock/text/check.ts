import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { invalid } from "./errors.ts";

const refused = (path: string, rule: string) =>
  invalid(`1 validation error detected: Value at '${path}' failed to satisfy constraint: ${rule}`);

export function requireObject(value: Json | undefined, path: string): JsonObject {
  if (!isObject(value)) throw refused(path, "Member must be an object");
  return value;
}

export function requireArray(value: Json | undefined, path: string): Json[] {
  if (!Array.isArray(value)) throw refused(path, "Member must be a list");
  return value;
}

export function requireString(value: Json | undefined, path: string, pattern = /[\s\S]/): string {
  if (typeof value !== "string") throw refused(path, "Member must be a string");
  if (!pattern.test(value)) throw refused(path, `Member must satisfy regular expression pattern: ${pattern.source}`);
  return value;
}

export function requireOneOf<const T extends string>(value: Json | undefined, allowed: readonly T[], path: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw refused(path, `Member must satisfy enum value set: [${allowed.join(", ")}]`);
  return found;
}

export function optionalNumber(
  value: Json | undefined,
  [min, max]: [number, number],
  path: string,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw refused(path, "Member must be a number");
  if (value < min) throw refused(path, `Member must have value greater than or equal to ${min}`);
  if (value > max) throw refused(path, `Member must have value less than or equal to ${max}`);
  return value;
}

export function requireKnown(object: JsonObject, known: readonly string[]): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) throw invalid(`#: extraneous key [${key}] is not permitted`);
  }
}

/** The one member of a union. */
export function memberOf(value: Json | undefined, path: string): { kind: string; member: Json } {
  const entries = Object.entries(requireObject(value, path));
  const [only] = entries;
  if (only === undefined || entries.length !== 1)
    throw refused(path, "Member must be a union with exactly one member set");
  return { kind: only[0], member: only[1] };
}

export function requireBase64(value: Json | undefined, path: string): Buffer {
  const text = requireString(value, path);
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw refused(path, "Member must be base64");
  return bytes;
}
