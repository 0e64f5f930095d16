import type { HostError } from "../../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { invalid } from "./errors.ts";

const ARTICLES: Readonly<Record<string, string>> = { array: "an array", object: "an object", integer: "an integer" };

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return isObject(value) ? "an object" : `a ${typeof value}`;
}

export function wrongType(value: Json, expected: string, param: string): HostError {
  const wanted = ARTICLES[expected] ?? (expected.startsWith("one of") ? expected : `a ${expected}`);
  return invalid(
    `Invalid type for '${param}': expected ${wanted}, but got ${kindOf(value)} instead.`,
    param,
    "invalid_type",
  );
}

export function missing(param: string): HostError {
  return invalid(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
}

export function badValue(value: Json, supported: readonly string[], param: string): HostError {
  const list = supported.map((one) => `'${one}'`).join(", ");
  return invalid(`Invalid value: '${String(value)}'. Supported values are: ${list}.`, param, "invalid_value");
}

export function requireObject(value: Json | undefined, param: string): JsonObject {
  if (value === undefined) throw missing(param);
  if (!isObject(value)) throw wrongType(value, "object", param);
  return value;
}

export function requireString(value: Json | undefined, param: string): string {
  if (value === undefined) throw missing(param);
  if (typeof value !== "string") throw wrongType(value, "string", param);
  return value;
}

export function requireArray(value: Json | undefined, param: string): Json[] {
  if (value === undefined) throw missing(param);
  if (!Array.isArray(value)) throw wrongType(value, "array", param);
  return value;
}

/** `null` counts as absent, as it does at the host. */
export function optionalNumber(
  body: JsonObject,
  param: string,
  range: [number, number],
  whole = false,
): number | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
    throw wrongType(value, whole ? "integer" : "number", param);
  }
  const noun = whole ? "integer" : "decimal";
  const [lowest, highest] = range;
  if (value < lowest) {
    throw invalid(
      `Invalid '${param}': ${noun} below minimum value. Expected a value >= ${lowest}, but got ${value} instead.`,
      param,
      `${noun}_below_min_value`,
    );
  }
  if (value > highest) {
    throw invalid(
      `Invalid '${param}': ${noun} above maximum value. Expected a value <= ${highest}, but got ${value} instead.`,
      param,
      `${noun}_above_max_value`,
    );
  }
  return value;
}

export function optionalBoolean(body: JsonObject, param: string): boolean | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw wrongType(value, "boolean", param);
  return value;
}

export function optionalEnum(body: JsonObject, param: string, supported: readonly string[]): string | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw wrongType(value, "string", param);
  if (!supported.includes(value)) throw badValue(value, supported, param);
  return value;
}
