/** The JSON Schema keywords that the gateway's schemas use, as the explanation reads them. */
export interface SchemaNode {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly not?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly maxProperties?: number;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
  readonly "x-expected"?: string;
}

/** Named schemas that a `$ref` can refer to. */
export type Definitions = Readonly<Record<string, SchemaNode>>;

/** Follows a reference; returns a node without one unchanged. */
export function resolveNode(node: SchemaNode, definitions: Definitions): SchemaNode {
  if (node.$ref === undefined) return node;
  const target = (node.$defs ?? definitions)[node.$ref];
  if (target === undefined) throw new Error(`The schema refers to ${node.$ref}, which it does not define.`);
  return target;
}

/** The alternatives of a node, with nested unions flattened. A node that is not a union is its only alternative. */
export function alternativesOf(node: SchemaNode, definitions: Definitions): SchemaNode[] {
  const resolved = resolveNode(node, definitions);
  if (resolved.anyOf === undefined) return [resolved];
  return resolved.anyOf.flatMap((alternative) => alternativesOf(alternative, definitions));
}

type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "string";
    default:
      return "object";
  }
}

/** The JSON type that a node requires; undefined if it accepts any. */
export function jsonTypeOfNode(node: SchemaNode): JsonType | undefined {
  if (node.type !== undefined) return node.type === "integer" ? "number" : (node.type as JsonType);
  if (node.const !== undefined) return jsonTypeOf(node.const);
  if (node.enum !== undefined) return jsonTypeOf(node.enum[0]);
  return undefined;
}
