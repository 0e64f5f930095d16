import { isObject, type JsonObject } from "../../base/json.ts";
import { putField } from "../../base/put-field.ts";
import { explainMismatch } from "./explain-mismatch.ts";
import { alternativesOf, type Definitions, jsonTypeOf, jsonTypeOfNode, type SchemaNode } from "./schema-node.ts";

/**
 * A request without the nulls that mean "not given": those of optional fields whose schema does not accept null. Everything else
 * is kept, including the client's data and unknown fields.
 */
export function withoutNulls(node: SchemaNode, value: unknown, definitions: Definitions = {}): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = node.$defs === undefined ? definitions : { ...definitions, ...node.$defs };
  const meant = alternativesOf(node, known).find((alternative) => isMeant(alternative, value));
  if (meant === undefined) return value;
  if (Array.isArray(value)) return meant.items === undefined ? value : inItems(meant.items, value, known);
  return isObject(value) ? inMembers(meant, value, known) : value;
}

/** The alternative of a union that the value's type and its literals (`type`, `role`) select. */
function isMeant(node: SchemaNode, value: object): boolean {
  const wanted = jsonTypeOfNode(node);
  if (wanted !== undefined && wanted !== jsonTypeOf(value)) return false;
  const members = value as JsonObject;
  return Object.entries(node.properties ?? {}).every(([key, property]) => {
    const member = members[key];
    return member === undefined || member === null || !isLiteral(property) || fits(property, member);
  });
}

const isLiteral = ({ const: only, enum: words, pattern, not }: SchemaNode): boolean =>
  only !== undefined || words !== undefined || pattern !== undefined || not !== undefined;

const fits = (node: SchemaNode, value: unknown): boolean => explainMismatch(node, value) === undefined;

function inItems(node: SchemaNode, items: readonly unknown[], known: Definitions): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const after = withoutNulls(node, item, known);
    if (copy === undefined && after !== item) copy = items.slice(0, index);
    copy?.push(after);
  }
  return copy ?? items;
}

function inMembers(node: SchemaNode, object: JsonObject, known: Definitions): JsonObject {
  const { properties = {}, required = [] } = node;
  const after: Record<string, unknown> = {};
  let changed = false;
  for (const [key, member] of Object.entries(object)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (member === null && property !== undefined && !required.includes(key) && !takesNull(property, known)) {
      changed = true;
      continue;
    }
    const clean = property === undefined ? member : withoutNulls(property, member, known);
    changed ||= clean !== member;
    putField(after, key, clean);
  }
  return changed ? after : object;
}

const takesNull = (node: SchemaNode, known: Definitions): boolean =>
  alternativesOf(node, known).some((alternative) => {
    const type = jsonTypeOfNode(alternative);
    return type === undefined || type === "null";
  });
