/** Safe readers for unvalidated JSON: a value that is absent or of another type is undefined. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch {
    // A failed upstream may return an HTML page; its status must suffice.
    return undefined;
  }
  const value = Array.isArray(parsed) ? (parsed[0] as unknown) : parsed;
  return isObject(value) ? value : undefined;
}

/** A number that a double does not hold, as its own text (wire/exact-number.ts). `JSON.stringify` writes it as it is. */
export interface ExactNumber {
  readonly rawJSON: string;
}

declare global {
  /** Not yet in the compiler's library. */
  interface JSON {
    isRawJSON(value: unknown): value is ExactNumber;
  }
}

/** An exact number is not an object here. Exact numbers have no prototype, so most objects need no call of `JSON.isRawJSON`. */
export function isObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.getPrototypeOf(value) !== null || !JSON.isRawJSON(value);
}

/** A number as JavaScript counts with it, be it an exact one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

export function objectAt(value: unknown, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

export function numberAt(value: unknown, key: string): number | undefined {
  const found = numberOf(isObject(value) ? value[key] : undefined);
  return found !== undefined && Number.isFinite(found) ? found : undefined;
}

export function stringAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

const NOTHING: readonly unknown[] = Object.freeze([]);

export function arrayAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : NOTHING;
}
