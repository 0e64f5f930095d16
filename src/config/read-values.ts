import type { TSchema } from "typebox";
import { readNetwork } from "../base/ip-network.ts";
import { isDay, readTimestamp } from "../base/timestamp.ts";
import type { DocumentNode, MapNode, Position, Report, ScalarNode } from "./document-node.ts";
import { nearestName } from "./nearest-name.ts";
import { expandReferences, type ReferenceSource } from "./variables.ts";

/** The keywords of JSON Schema that the configuration's schemas use. */
export interface ConfigSchema {
  type?: string;
  properties?: Readonly<Record<string, ConfigSchema>>;
  /** For a mapping whose names the operator chooses: the form of the names, and the shape of every value. */
  patternProperties?: Readonly<Record<string, ConfigSchema>>;
  required?: readonly string[];
  items?: ConfigSchema;
  anyOf?: readonly ConfigSchema[];
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  minItems?: number;
  pattern?: string;
  format?: string;
  description?: string;
  writeOnly?: boolean;
  /** For a field that this version does not implement: what to do instead. */
  notBuilt?: string;
}

/** A schema of the library, which is plain JSON Schema. */
export function configSchema(schema: TSchema): ConfigSchema {
  return schema as ConfigSchema;
}

export interface ReadContext extends ReferenceSource {
  report: Report;
}

/**
 * The value of a node according to its schema, with variables expanded. All problems are reported (the compiled checks of the
 * schema library stop after eight, and have no positions). Invalid values are left out, or undefined in a list. Missing fields
 * are reported at `at`.
 */
export function readValue(
  node: DocumentNode,
  shape: ConfigSchema,
  path: string,
  context: ReadContext,
  at = node.position,
): unknown {
  return read(node, shape, path, context, at, true);
}

function read(
  node: DocumentNode,
  shape: ConfigSchema,
  path: string,
  context: ReadContext,
  at: Position,
  needed: boolean,
): unknown {
  if (shape.anyOf !== undefined) {
    const others = shape.anyOf.filter((one) => one.type !== "null");
    if (node.kind === "scalar" && node.value === null && others.length < shape.anyOf.length) return null;
    // The only alternatives in use are "this, or null", scalars of several types, and one scalar or a list.
    const fitting = others.filter((one) => (one.type === "array") === (node.kind === "list"));
    const [only] = fitting.length === 0 ? others : fitting;
    if (only !== undefined && fitting.length <= 1) return read(node, only, path, context, at, needed);
  }
  if (node.kind === "scalar" && node.value === null) {
    if (needed) context.report(at, `${path || "the file"} is empty; it must be ${expectation(shape)}`);
    return undefined;
  }
  if (shape.type === "object" && node.kind === "map") return readMap(node, shape, path, context, at);
  if (shape.type === "array" && node.kind === "list") {
    if (node.items.length < (shape.minItems ?? 0))
      context.report(node.position, `${path} must be ${expectation(shape)}`);
    return node.items.map((item, index) => readValue(item, shape.items ?? {}, `${path}[${index}]`, context));
  }
  if (node.kind === "scalar" && shape.type !== "object" && shape.type !== "array") {
    return readScalar(node, shape, path, context, needed);
  }
  context.report(node.position, `${path || "the file"} must be ${expectation(shape)}`);
  return undefined;
}

function readMap(
  node: MapNode,
  shape: ConfigSchema,
  path: string,
  context: ReadContext,
  at: Position,
): Record<string, unknown> {
  if (shape.patternProperties !== undefined) return readNamed(node, shape.patternProperties, path, context);
  const properties = shape.properties ?? {};
  const required = shape.required ?? [];
  const values: [string, unknown][] = [];
  for (const [name, entry] of node.entries) {
    const fieldPath = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) {
      const known = Object.keys(properties).filter((one) => properties[one]?.notBuilt === undefined);
      const near = nearestName(name, known);
      const hint = near === undefined ? `known fields: ${known.join(", ")}` : `did you mean ${near}?`;
      context.report(entry.position, `${fieldPath} is not a known field; ${hint}`);
      continue;
    }
    const value = read(entry.node, field, fieldPath, context, entry.position, required.includes(name));
    if (value === undefined) continue;
    if (field.notBuilt === undefined) values.push([name, value]);
    else context.report(entry.position, `${fieldPath} is not supported in this version: ${field.notBuilt}`);
  }
  const missing = required.filter((name) => !node.entries.has(name));
  if (missing.length > 0) context.report(at, `${path || "the file"} requires ${missing.join(" and ")}`);
  return Object.fromEntries(values);
}

function readNamed(
  node: MapNode,
  patterns: NonNullable<ConfigSchema["patternProperties"]>,
  path: string,
  context: ReadContext,
): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const [name, entry] of node.entries) {
    const [, field] = Object.entries(patterns).find(([pattern]) => new RegExp(pattern).test(name)) ?? [];
    if (field === undefined) {
      context.report(entry.position, `${path} contains an invalid name; use 1 to 128 characters without white space`);
      continue;
    }
    const value = read(entry.node, field, `${path}.${name}`, context, entry.position, true);
    if (value !== undefined) values.push([name, value]);
  }
  return Object.fromEntries(values);
}

/** Fields that are shown without their password. */
const PASSWORD_FIELDS: ReadonlySet<string> = new Set(["storage"]);

function readScalar(
  node: ScalarNode,
  shape: ConfigSchema,
  path: string,
  context: ReadContext,
  needed: boolean,
): unknown {
  let value = node.value;
  if (shape.writeOnly === true) node.isSecret = true;
  if (typeof value === "string") {
    const expansion = expandReferences(value, context);
    if (expansion.malformed) {
      context.report(
        node.position,
        `${path} contains a \${ that does not start a valid reference; write \${NAME}, \${NAME:-default} or \${file:path}, or $$ for a literal $`,
      );
      return undefined;
    }
    if (expansion.unread.length > 0) {
      context.report(
        node.position,
        `${path} refers to the file ${expansion.unread.join(" and ")}, which cannot be read`,
      );
      return undefined;
    }
    if (expansion.missing.length > 0) {
      context.report(node.position, `${path} refers to the secret ${expansion.missing.join(" and ")}`);
      return undefined;
    }
    if (expansion.hasSecret && shape.writeOnly !== true && !PASSWORD_FIELDS.has(path)) {
      context.report(node.position, `${path} cannot refer to a secret, because its value is shown to operators`);
      return undefined;
    }
    if (expansion.unset.length > 0) {
      if (expansion.whole && !needed && shape.writeOnly !== true) return undefined;
      const names = expansion.unset.join(" and ");
      const hint = expansion.whole ? "" : `; write \${${expansion.unset[0]}:-} to allow an empty value`;
      context.report(node.position, `${path} refers to the environment variable ${names}, which is not set${hint}`);
      return undefined;
    }
    value = expansion.used ? typed(expansion.text, shape) : expansion.text;
  }
  if (fits(value, shape)) return value;
  const near = typeof value === "string" ? nearestName(value, (shape.enum ?? []).map(String)) : undefined;
  const quotes = shape.type === "string" && typeof value !== "string" ? "; put it in quotes" : "";
  const hint = near === undefined ? quotes : `; did you mean ${near}?`;
  context.report(node.position, `${path} must be ${expectation(shape)}${hint}`);
  return undefined;
}

/** A variable's value is always text: where the field is a number or a switch, it is read as one. */
function typed(text: string, shape: ConfigSchema): unknown {
  const one = shape.anyOf?.find((each) => fits(typed(text, each), each));
  if (one !== undefined) return typed(text, one);
  if ((shape.type === "integer" || shape.type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (shape.type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Whether a value already has its shape. */
export function fits(value: unknown, shape: ConfigSchema): boolean {
  if (shape.anyOf !== undefined) return shape.anyOf.some((one) => fits(value, one));
  if (shape.enum !== undefined) return shape.enum.includes(value);
  if (shape.type === "boolean") return typeof value === "boolean";
  if (shape.type === "string") {
    return (
      typeof value === "string" &&
      value.length >= (shape.minLength ?? 0) &&
      (shape.pattern === undefined || new RegExp(shape.pattern).test(value)) &&
      (shape.format === undefined || FORMATS[shape.format]?.(value) === true)
    );
  }
  return (
    typeof value === "number" &&
    (shape.type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
    value >= (shape.minimum ?? Number.NEGATIVE_INFINITY) &&
    value > (shape.exclusiveMinimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (shape.maximum ?? Number.POSITIVE_INFINITY)
  );
}

/** Finishes the sentence "<field> must be …". */
export function expectation(shape: ConfigSchema): string {
  if (shape.description !== undefined) return shape.description;
  if (shape.enum !== undefined) return shape.enum.length === 1 ? `${shape.enum[0]}` : `one of ${shape.enum.join(", ")}`;
  if (shape.type === "string") return shape.minLength === undefined ? "text" : "non-empty text";
  if (shape.type === "boolean") return "true or false";
  if (shape.type === "array") return shape.minItems === undefined ? "a list" : "a non-empty list";
  if (shape.type === "object") return "a mapping of fields";
  const number = shape.type === "integer" ? "a whole number" : "a number";
  if (shape.exclusiveMinimum !== undefined) return `${number} greater than ${shape.exclusiveMinimum}${upTo(shape)}`;
  if (shape.minimum === undefined) return number;
  return shape.maximum === undefined
    ? `${number} of at least ${shape.minimum}`
    : `${number} from ${shape.minimum} to ${shape.maximum}`;
}

function upTo({ maximum }: ConfigSchema): string {
  return maximum === undefined ? "" : ` and at most ${maximum}`;
}

/** Checks of text that a pattern cannot express, by the `format` of a schema. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  "http-url": isHttpUrl,
  "webhook-url": isWebhookUrl,
  network: (text) => readNetwork(text) !== undefined,
  day: isDay,
  moment: (text) => isDay(text) || (MOMENT.test(text) && readTimestamp(text) !== undefined),
};

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A query or user part would be sent with every call to that URL, into logs and to the host (S07). */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s?#]+$/i.test(text) && URL.canParse(text) && !/^https?:\/\/[^/]*@/i.test(text);
}

/** Receivers may have a token in the query; a user part is sent by no client of today. */
function isWebhookUrl(text: string): boolean {
  return /^https?:\/\/[^\s#]+$/i.test(text) && URL.canParse(text) && !/^https?:\/\/[^/?]*@/i.test(text);
}
