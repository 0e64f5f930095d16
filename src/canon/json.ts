/** Careful readers of JSON whose shape nobody has checked: what is not there, or is of another type, is undefined. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch {
    // A failed upstream may answer with a page of HTML: its status alone must do.
    return undefined;
  }
  const value = Array.isArray(parsed) ? (parsed[0] as unknown) : parsed;
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

export function numberAt(value: unknown, key: string): number | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
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
