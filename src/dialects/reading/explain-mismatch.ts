import { countOf, describeSchema, listOf } from "./describe-schema.ts";
import { describeValue } from "./describe-value.ts";
import {
  alternativesOf,
  type Definitions,
  jsonTypeOf,
  jsonTypeOfNode,
  resolveNode,
  type SchemaNode,
} from "./schema-node.ts";

/** The first place where a value does not match its schema. */
export interface Mismatch {
  /** `messages[2].content[0].type`; empty for the whole body. */
  path: string;
  /** Completes the sentence that begins with the path: `must be …; it is …`. */
  problem: string;
  /** The value is null, which clients also send for "not given". */
  isNull?: boolean;
  /** How many steps into the value. Of several alternatives of a union, the client meant the deepest match. */
  depth: number;
}

/** One alternative of a union, and where the value does not match it. */
interface Reading {
  node: SchemaNode;
  mismatch: Mismatch;
}

interface Position {
  path: string;
  depth: number;
  definitions: Definitions;
}

/** The slow walk that explains a failure of the compiled check. */
export function explainMismatch(schema: SchemaNode, value: unknown): Mismatch | undefined {
  return walk(schema, value, { path: "", depth: 0, definitions: {} });
}

export function pathTo(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

function walk(node: SchemaNode, value: unknown, position: Position): Mismatch | undefined {
  const here =
    node.$defs === undefined ? position : { ...position, definitions: { ...position.definitions, ...node.$defs } };
  const resolved = resolveNode(node, here.definitions);
  if (resolved.anyOf !== undefined) return walkUnion(resolved, value, here);
  if (!hasRightType(resolved, value) || !hasRightLiteral(resolved, value)) return wrong(resolved, value, here);
  if (typeof value === "string") return walkString(resolved, value, here);
  if (typeof value === "number") return walkNumber(resolved, value, here);
  if (Array.isArray(value)) return walkArray(resolved, value, here);
  if (typeof value === "object" && value !== null) return walkObject(resolved, value as Record<string, unknown>, here);
  return undefined;
}

function wrong(node: SchemaNode, value: unknown, position: Position): Mismatch {
  return unexpected(describeSchema(node, position.definitions), value, position);
}

function unexpected(expected: string, value: unknown, position: Position): Mismatch {
  const mismatch = problem(position, `must be ${expected}; it is ${describeValue(value)}`);
  return value === null ? { ...mismatch, isNull: true } : mismatch;
}

function problem({ path, depth }: Position, text: string): Mismatch {
  return { path, depth, problem: text };
}

function hasRightType(node: SchemaNode, value: unknown): boolean {
  if (node.type === undefined) return true;
  if (node.type === "integer") return Number.isInteger(value);
  if (node.type === "number") return Number.isFinite(value);
  return node.type === jsonTypeOf(value);
}

function hasRightLiteral(node: SchemaNode, value: unknown): boolean {
  if (node.const !== undefined) return value === node.const;
  return node.enum === undefined || node.enum.includes(value);
}

function walkString(node: SchemaNode, value: string, position: Position): Mismatch | undefined {
  const { minLength, maxLength, pattern, not } = node;
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if ((minLength !== undefined && length < minLength) || (maxLength !== undefined && length > maxLength)) {
    const found = length === 0 ? "it is empty" : `it has ${countOf(length, "character")}`;
    return problem(position, `must be ${describeSchema(node, position.definitions)}; ${found}`);
  }
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) return wrong(node, value, position);
  if (not !== undefined && walk(not, value, position) === undefined) return wrong(node, value, position);
  return undefined;
}

function walkNumber(node: SchemaNode, value: number, position: Position): Mismatch | undefined {
  const { minimum, maximum, exclusiveMaximum } = node;
  const low = minimum !== undefined && value < minimum;
  const high = maximum !== undefined && value > maximum;
  const reached = exclusiveMaximum !== undefined && value >= exclusiveMaximum;
  return low || high || reached ? wrong(node, value, position) : undefined;
}

function walkArray(node: SchemaNode, value: readonly unknown[], position: Position): Mismatch | undefined {
  const { minItems, maxItems, items } = node;
  if ((minItems !== undefined && value.length < minItems) || (maxItems !== undefined && value.length > maxItems)) {
    const expected = describeSchema(node, position.definitions);
    return problem(position, `must be ${expected}; it has ${countOf(value.length, "item")}`);
  }
  if (items === undefined) return undefined;
  for (const [index, item] of value.entries()) {
    const found = walk(items, item, { ...position, path: `${position.path}[${index}]`, depth: position.depth + 1 });
    if (found !== undefined) return found;
  }
  return undefined;
}

function walkObject(node: SchemaNode, value: Record<string, unknown>, position: Position): Mismatch | undefined {
  const { properties = {}, required = [], patternProperties = {}, maxProperties } = node;
  if (maxProperties !== undefined && Object.keys(value).length > maxProperties) {
    const found = countOf(Object.keys(value).length, "key-value pair");
    return problem(position, `must be ${describeSchema(node, position.definitions)}; it has ${found}`);
  }
  for (const [key, property] of Object.entries(properties)) {
    const child = inside(position, key);
    if (value[key] === undefined) {
      if (required.includes(key)) return wrong(property, undefined, child);
      continue;
    }
    const found = walk(property, value[key], child);
    if (found !== undefined) return found;
  }
  for (const property of Object.values(patternProperties)) {
    for (const [key, item] of Object.entries(value)) {
      const found = walk(property, item, inside(position, key));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function inside(position: Position, key: string): Position {
  return { ...position, path: pathTo(position.path, key), depth: position.depth + 1 };
}

/**
 * Follows the alternative that is selected by the value's type and then by its discriminator (`type`, `role`). Each alternative
 * is walked once: a second walk to choose would double the work at every level of nesting.
 */
function walkUnion(node: SchemaNode, value: unknown, position: Position): Mismatch | undefined {
  const type = jsonTypeOf(value);
  const readings: Reading[] = [];
  for (const alternative of alternativesOf(node, position.definitions)) {
    const wanted = jsonTypeOfNode(alternative);
    if (wanted !== undefined && wanted !== type) continue;
    const mismatch = walk(alternative, value, position);
    if (mismatch === undefined) return undefined;
    readings.push({ node: alternative, mismatch });
  }
  if (readings.length === 0 || (type !== "object" && type !== "array")) return wrong(node, value, position);
  const discriminator = type === "object" ? discriminatorOf(readings) : undefined;
  if (discriminator === undefined) return deepest(readings);
  const record = value as Record<string, unknown>;
  const chosen = readings.filter((reading) => selects(reading.node, discriminator, record, position));
  if (chosen.length > 0) return deepest(chosen);
  return unexpected(expectedKinds(readings, discriminator), record[discriminator], inside(position, discriminator));
}

/** The property whose literal distinguishes all alternatives. */
function discriminatorOf(readings: readonly Reading[]): string | undefined {
  const keys = Object.keys(readings[0]?.node.properties ?? {});
  return keys.find((key) => readings.every((reading) => isSelective(reading.node.properties?.[key])));
}

function isSelective(node: SchemaNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.anyOf !== undefined) return node.anyOf.every((each) => each.type === "null" || isSelective(each));
  return node.const !== undefined || node.enum !== undefined || node.pattern !== undefined || node.not !== undefined;
}

function selects(node: SchemaNode, key: string, value: Record<string, unknown>, position: Position): boolean {
  const property = node.properties?.[key];
  if (property === undefined) return false;
  if (value[key] === undefined) return !node.required?.includes(key);
  return walk(property, value[key], position) === undefined;
}

function expectedKinds(readings: readonly Reading[], key: string): string {
  const literals = new Set<unknown>();
  const phrases: string[] = [];
  for (const { node } of readings) {
    const property = node.properties?.[key];
    if (property?.["x-expected"] !== undefined) phrases.push(property["x-expected"]);
    for (const each of property?.anyOf ?? (property === undefined ? [] : [property])) {
      if (each.const !== undefined) literals.add(each.const);
      for (const literal of each.enum ?? []) literals.add(literal);
    }
  }
  const listed = listOf([...literals]);
  return [literals.size > 1 ? `one of ${listed}` : listed, ...phrases].filter((phrase) => phrase !== "").join(", or ");
}

function deepest(readings: readonly Reading[]): Mismatch | undefined {
  let best: Mismatch | undefined;
  for (const { mismatch } of readings) {
    if (best === undefined || mismatch.depth > best.depth) best = mismatch;
  }
  return best;
}
