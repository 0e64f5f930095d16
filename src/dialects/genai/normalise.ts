import { isObject } from "../../base/json.ts";
import { putField } from "../../base/put-field.ts";
import { GatewayError } from "../../canon/error.ts";
import { pathTo } from "../reading/explain-mismatch.ts";
import { MAX_NESTING } from "../reading/nesting.ts";
import { REQUEST_SHAPE, type RequestShape, type Treatment } from "./request-shape.ts";
import { treatString } from "./treat-string.ts";

const PLAIN: RequestShape = { fields: new Map() };

/**
 * Reduces the variants that clients of this protocol send to one spelling: snake_case next to camelCase, enums in either case,
 * URL-safe base64, short enum names, one object instead of an array. Key order is kept. A request that needs no change is
 * returned as the same object.
 */
export function normaliseGenaiRequest(body: unknown): unknown {
  if (!isObject(body)) return body;
  try {
    return treatObject(body, REQUEST_SHAPE, 1);
  } catch (thrown) {
    if (!(thrown instanceof SpeltTwice)) throw thrown;
    const position = pathTo(pathOf(thrown.source, body, "") ?? "", thrown.key);
    const message = `${position} and ${thrown.name} are two spellings of the same field; send only one.`;
    throw new GatewayError("invalid_request", message, { path: position });
  }
}

/** Thrown if a field is present in both spellings: it is unknown which one a host would read (S15). */
class SpeltTwice {
  readonly source: object;
  readonly key: string;
  readonly name: string;

  constructor(source: object, key: string, name: string) {
    this.source = source;
    this.key = key;
    this.name = name;
  }
}

/** Only needed for errors. */
function pathOf(wanted: object, value: unknown, path: string): string | undefined {
  if (value === wanted) return path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const found = pathOf(wanted, child, Array.isArray(value) ? `${path}[${key}]` : pathTo(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

function treat(value: unknown, treatment: Treatment, depth: number): unknown {
  if (typeof value === "string") return typeof treatment === "string" ? treatString(value, treatment) : value;
  if (typeof value !== "object" || value === null || treatment === "data") return value;
  if (depth > MAX_NESTING) {
    throw new GatewayError(
      "invalid_request",
      `The request body is nested deeper than ${MAX_NESTING} levels. Send a flatter one.`,
    );
  }
  if (Array.isArray(value)) return treatArray(value, treatment, depth);
  const shape = typeof treatment === "string" ? PLAIN : treatment;
  return treatObject(value as Record<string, unknown>, shape, depth);
}

function treatArray(source: readonly unknown[], treatment: Treatment, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < source.length; index++) {
    const item = treat(source[index], treatment, depth + 1);
    if (copy === undefined && item !== source[index]) copy = source.slice(0, index);
    copy?.push(item);
  }
  return copy ?? source;
}

function treatObject(source: Readonly<Record<string, unknown>>, shape: RequestShape, depth: number): object {
  let copy: Record<string, unknown> | undefined;
  for (const key in source) {
    const name = shape.values === undefined ? nameOf(key, source, shape) : key;
    const value = source[key];
    const treated = treat(value, shape.values ?? shape.fields.get(name) ?? PLAIN, depth + 1);
    const child = shape.lists?.has(name) && isObject(treated) ? [treated] : treated;
    if (copy === undefined) {
      if (name === key && child === value) continue;
      copy = entriesBefore(source, key);
    }
    // A null in one spelling does not conflict with the other.
    if (value === null && Object.hasOwn(copy, name)) continue;
    putField(copy, name, child);
  }
  return shape.finish?.(copy ?? source) ?? copy ?? source;
}

/** The normalised name of a field. A synonym of a field that is present keeps its own name. */
function nameOf(key: string, source: Readonly<Record<string, unknown>>, shape: RequestShape): string {
  const synonym = shape.synonyms?.get(key);
  if (synonym !== undefined) return Object.hasOwn(source, synonym) ? key : synonym;
  const name = key.includes("_") && !shape.fields.has(key) ? toCamelCase(key) : key;
  const twice = name !== key && Object.hasOwn(source, name) && source[key] !== null && source[name] !== null;
  if (twice) throw new SpeltTwice(source, key, name);
  return name;
}

function toCamelCase(key: string): string {
  if (!/^[a-z][a-zA-Z0-9]*(?:_[a-z0-9]+)+$/.test(key)) return key;
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function entriesBefore(source: Readonly<Record<string, unknown>>, end: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const key in source) {
    if (key === end) break;
    putField(copy, key, source[key]);
  }
  return copy;
}
