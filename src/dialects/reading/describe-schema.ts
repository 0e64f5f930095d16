import { alternativesOf, type Definitions, type SchemaNode } from "./schema-node.ts";

/** What a schema accepts, worded to complete the sentence "it must be …". */
export function describeSchema(node: SchemaNode, definitions: Definitions): string {
  if (node["x-expected"] !== undefined) return node["x-expected"];
  const alternatives = alternativesOf(node, definitions);
  const phrases = alternatives.length === 1 ? alternatives.map(describeOne) : describeMany(alternatives);
  return phrases.join(", or ");
}

export function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

/** Literals of several alternatives form one list, with `null` last. */
function describeMany(alternatives: readonly SchemaNode[]): string[] {
  const literals: unknown[] = [];
  const phrases: string[] = [];
  let orNull = false;
  for (const alternative of alternatives) {
    if (alternative["x-expected"] !== undefined) phrases.push(alternative["x-expected"]);
    else if (alternative.const !== undefined) literals.push(alternative.const);
    else if (alternative.enum !== undefined) literals.push(...alternative.enum);
    else if (alternative.type === "null") orNull = true;
    else phrases.push(describeOne(alternative));
  }
  if (literals.length > 0) phrases.unshift(literals.length === 1 ? listOf(literals) : `one of ${listOf(literals)}`);
  if (orNull) phrases.push("null");
  return [...new Set(phrases)];
}

function describeOne(node: SchemaNode): string {
  if (node["x-expected"] !== undefined) return node["x-expected"];
  if (node.const !== undefined) return listOf([node.const]);
  if (node.enum !== undefined) return node.enum.length === 1 ? listOf(node.enum) : `one of ${listOf(node.enum)}`;
  switch (node.type) {
    case "integer":
      return `an integer${describeRange(node)}`;
    case "number":
      return `a number${describeRange(node)}`;
    case "string":
      return describeString(node);
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "array":
      return describeArray(node);
    case "object":
      return node.maxProperties === undefined
        ? "an object"
        : `an object of at most ${node.maxProperties} key-value pairs`;
    default:
      return "any value";
  }
}

function describeRange({ minimum, maximum, exclusiveMaximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined && exclusiveMaximum !== undefined)
    return ` from ${minimum} to less than ${exclusiveMaximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  if (maximum !== undefined) return ` of at most ${maximum}`;
  return "";
}

function describeString({ minLength, maxLength }: SchemaNode): string {
  if (maxLength !== undefined) return `a string of ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === undefined ? "a string" : "a non-empty string";
}

function describeArray({ items, minItems, maxItems }: SchemaNode): string {
  const kind = items?.type === "string" ? "an array of strings" : "an array";
  if (minItems !== undefined && maxItems !== undefined) return `${kind} of ${minItems} to ${maxItems} items`;
  if (minItems !== undefined) return `${kind} of at least ${countOf(minItems, "item")}`;
  if (maxItems !== undefined) return `${kind} of at most ${countOf(maxItems, "item")}`;
  return kind;
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
