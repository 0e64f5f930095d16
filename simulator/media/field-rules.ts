import { isObject, type Json, type JsonObject } from "../json.ts";

/** A sentence on what would be right at `path`, where the value is wrong. */
export type FieldRule = (value: Json, path: string) => string | undefined;

export type FieldRules = Readonly<Record<string, FieldRule>>;

export interface FieldFault {
  /** The field of the body that is at fault. */
  field: string;
  kind: "missing" | "unknown" | "wrong";
  message: string;
}

export const anything: FieldRule = () => undefined;

export const flag: FieldRule = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false.`;

export const text =
  (max = 100_000): FieldRule =>
  (value, path) => {
    if (typeof value !== "string" || value === "") return `${path} must be a string that is not empty.`;
    return [...value].length <= max ? undefined : `${path} must have at most ${max} characters.`;
  };

/** A string that may be empty. */
export const anyText: FieldRule = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a string.`;

export const numberIn =
  (min: number, max: number): FieldRule =>
  (value, path) =>
    typeof value === "number" && value >= min && value <= max
      ? undefined
      : `${path} must be a number from ${min} to ${max}.`;

export const wholeIn =
  (min: number, max: number): FieldRule =>
  (value, path) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `${path} must be a whole number from ${min} to ${max}.`;

/** Exactly one of these, type included: `5` is not `"5"`. */
export const oneOf =
  (...values: readonly Json[]): FieldRule =>
  (value, path) =>
    values.includes(value) ? undefined : `${path} must be one of ${values.map((v) => JSON.stringify(v)).join(", ")}.`;

export const listOf =
  (rule: FieldRule, min: number, max: number): FieldRule =>
  (value, path) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      return `${path} must be a list of ${min} to ${max} items.`;
    }
    for (const [index, item] of value.entries()) {
      const wrong = rule(item, `${path}[${index}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };

export const recordOf =
  (rules: FieldRules, required: readonly string[] = []): FieldRule =>
  (value, path) =>
    isObject(value) ? faultIn(value, rules, required, `${path}.`)?.message : `${path} must be an object.`;

/** The first thing wrong with an object: a field that is missing, unknown or has a wrong value. */
export function faultIn(
  body: JsonObject,
  rules: FieldRules,
  required: readonly string[],
  prefix = "",
): FieldFault | undefined {
  for (const field of required) {
    if (body[field] === undefined) return { field, kind: "missing", message: `${prefix}${field} is required.` };
  }
  for (const [field, value] of Object.entries(body)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
    if (rule === undefined) {
      return { field, kind: "unknown", message: `${prefix}${field} is not a parameter that is supported here.` };
    }
    const wrong = rule(value, `${prefix}${field}`);
    if (wrong !== undefined) return { field, kind: "wrong", message: wrong };
  }
  return undefined;
}
