import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { invalid } from "./errors.ts";

const REQUIRED = "Field required";

export function requireObject(value: Json | undefined, path: string): JsonObject {
  if (value === undefined) throw invalid(path, REQUIRED);
  if (!isObject(value)) throw invalid(path, "Input should be a valid dictionary");
  return value;
}

export function requireArray(value: Json | undefined, path: string): Json[] {
  if (value === undefined) throw invalid(path, REQUIRED);
  if (!Array.isArray(value)) throw invalid(path, "Input should be a valid list");
  return value;
}

export function requireString(value: Json | undefined, path: string): string {
  if (value === undefined) throw invalid(path, REQUIRED);
  if (typeof value !== "string") throw invalid(path, "Input should be a valid string");
  return value;
}

/** `null` is not a number here, but means absent if the field is optional. */
export function optionalNumber(
  body: JsonObject,
  path: string,
  range: [number, number],
  whole = false,
): number | undefined {
  const value = body[path];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
    throw invalid(path, `Input should be a valid ${whole ? "integer" : "number"}`);
  }
  if (value < range[0]) throw invalid(path, `Input should be greater than or equal to ${range[0]}`);
  if (value > range[1]) throw invalid(path, `Input should be less than or equal to ${range[1]}`);
  return value;
}

export function requireOneOf<const T extends string>(value: Json | undefined, allowed: readonly T[], path: string): T {
  if (value === undefined) throw invalid(path, REQUIRED);
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw invalid(path, `Input should be ${allowed.map((one) => `'${one}'`).join(" or ")}`);
  return found;
}
