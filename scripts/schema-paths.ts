import { isObject } from "../src/base/json.ts";
import { explainMismatch, pathTo } from "../src/dialects/reading/explain-mismatch.ts";
import {
  alternativesOf,
  type Definitions,
  jsonTypeOfNode,
  type SchemaNode,
} from "../src/dialects/reading/schema-node.ts";

/** One member of an object in a request, and what the schema knows about it. */
export interface Member {
  keys: readonly (string | number)[];
  /** Its path, as receipts write it: `messages[2].content[0].text`. */
  path: string;
  /** What it is, with the kinds of blocks instead of numbers: `messages[user].content[text].text`. */
  schemaPath: string;
  /** false: the member is inside an object whose content the client defines. */
  known: boolean;
  value: unknown;
  /** The schema nodes here; empty inside open objects. */
  nodes: readonly SchemaNode[];
}

interface Here {
  schemaPath: string;
  /** The same, but from the nearest schema with a title on: a block is the same block wherever it occurs. */
  field: string;
  definitions: Definitions;
}

interface Spot extends Here {
  keys: readonly (string | number)[];
  path: string;
}

const ROOT: Here = { schemaPath: "", field: "", definitions: {} };

/**
 * Every field of a request schema, listed once for each schema with a title (`TextBlock.cache_control`), and every JSON type
 * of those that may have several (`Message.content as array`). Open objects are not entered, and named ones only once.
 */
export function fieldsOf(schema: SchemaNode): Set<string> {
  const fields = new Set<string>();
  walkSchema(schema, ROOT, new Set(), fields);
  return fields;
}

function walkSchema(node: SchemaNode, outer: Here, walked: Set<string>, fields: Set<string>): void {
  const here = entered(node, outer);
  const name = nameOf(node);
  if (name !== undefined && walked.has(name)) return;
  if (name !== undefined) walked.add(name);
  const alternatives = presentAlternatives(node, here.definitions);
  for (const form of formsOf(alternatives)) fields.add(`${here.field} as ${form}`);
  for (const alternative of alternatives) {
    const kind = inKind(here, alternative, alternatives);
    // A union's alternative may have a title of its own.
    const title = alternative === node ? undefined : titleOf(alternative);
    const own = title === undefined ? kind : { ...kind, field: title };
    if (title !== undefined && walked.has(title)) continue;
    if (title !== undefined) walked.add(title);
    for (const [key, property] of Object.entries(alternative.properties ?? {})) {
      const inner = below(own, key);
      fields.add(inner.field);
      walkSchema(property, inner, walked, fields);
    }
    for (const property of Object.values(alternative.patternProperties ?? {}))
      walkSchema(property, below(own, "*"), walked, fields);
    if (alternative.items !== undefined) walkSchema(alternative.items, item(own), walked, fields);
  }
}

/** The fields that a request fills, written as `fieldsOf` writes them. */
export function fieldsIn(schema: SchemaNode, body: unknown): Set<string> {
  const fields = new Set<string>();
  walkValue(
    schema,
    body,
    { ...ROOT, keys: [], path: "" },
    () => {},
    (field) => fields.add(field),
  );
  return fields;
}

/** Every member of every object of a request; null is the same as absent, and is passed over. */
export function membersOf(schema: SchemaNode, body: unknown): Member[] {
  const members: Member[] = [];
  walkValue(
    schema,
    body,
    { ...ROOT, keys: [], path: "" },
    (member) => members.push(member),
    () => {},
  );
  return members;
}

function walkValue(
  node: SchemaNode | undefined,
  value: unknown,
  outer: Spot,
  visit: (member: Member) => void,
  fill: (field: string) => void,
): void {
  if (node === undefined) {
    walkOpen(value, outer, visit);
    return;
  }
  const spot: Spot = { ...outer, ...entered(node, outer) };
  const { definitions } = spot;
  const alternatives = presentAlternatives(node, definitions);
  const chosen = alternatives.find((each) => explainMismatch({ ...each, $defs: definitions }, value) === undefined);
  if (chosen === undefined) return;
  if (formsOf(alternatives).length > 0) fill(`${spot.field} as ${jsonTypeOfNode(chosen)}`);
  const kind = { ...spot, ...inKind(spot, chosen, alternatives) };
  const title = chosen === node ? undefined : titleOf(chosen);
  const own = title === undefined ? kind : { ...kind, field: title };
  if (Array.isArray(value))
    for (const [index, each] of value.entries()) {
      const inner = { ...own, ...item(own), keys: [...spot.keys, index], path: `${spot.path}[${index}]` };
      walkValue(chosen.items, each, inner, visit, fill);
    }
  if (!isObject(value)) return;
  if (chosen.properties === undefined && chosen.patternProperties === undefined) {
    walkOpen(value, own, visit);
    return;
  }
  const anyKey = Object.values(chosen.patternProperties ?? {})[0];
  for (const [key, child] of Object.entries(value)) {
    if (child === null) continue;
    const property = chosen.properties?.[key] ?? anyKey;
    const inner = {
      ...own,
      ...below(own, anyKey === undefined ? key : "*"),
      keys: [...spot.keys, key],
      path: pathTo(spot.path, key),
    };
    fill(inner.field);
    const nodes = property === undefined ? [] : presentAlternatives(property, definitions);
    visit({ keys: inner.keys, path: inner.path, schemaPath: inner.schemaPath, known: true, value: child, nodes });
    walkValue(property, child, inner, visit, fill);
  }
}

/** Inside an object of the client's own every member still counts, but has no schema path of its own. */
function walkOpen(value: unknown, spot: Spot, visit: (member: Member) => void): void {
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : [];
  if (isObject(value)) entries.push(...Object.entries(value));
  for (const [key, child] of entries) {
    if (child === null) continue;
    const path = typeof key === "number" ? `${spot.path}[${key}]` : pathTo(spot.path, key);
    const inner = { ...spot, keys: [...spot.keys, key], path };
    if (typeof key === "string")
      visit({ keys: inner.keys, path, schemaPath: spot.schemaPath, known: false, value: child, nodes: [] });
    walkOpen(child, inner, visit);
  }
}

/** A schema that is used in many places has a title, or a name by which it refers to itself. */
const nameOf = (node: SchemaNode): string | undefined => titleOf(node) ?? node.$ref;

const titleOf = ({ title }: SchemaNode & { title?: string }): string | undefined => title;

function entered(node: SchemaNode, outer: Here): Here {
  const definitions = node.$defs === undefined ? outer.definitions : { ...outer.definitions, ...node.$defs };
  const name = nameOf(node);
  return { ...outer, definitions, field: name === undefined || outer.schemaPath === "" ? outer.field : name };
}

const below = (here: Here, key: string): Here => {
  const inside = (schemaPath: string) => (key === "*" ? `${schemaPath}.*` : pathTo(schemaPath, key));
  return { ...here, schemaPath: inside(here.schemaPath), field: inside(here.field) };
};

const item = (here: Here): Here => ({ ...here, schemaPath: `${here.schemaPath}[]`, field: `${here.field}[]` });

const presentAlternatives = (node: SchemaNode, definitions: Definitions): SchemaNode[] =>
  alternativesOf(node, definitions).filter((each) => jsonTypeOfNode(each) !== "null");

/** The JSON types of a value that may have several, such as a string or an array. */
function formsOf(alternatives: readonly SchemaNode[]): string[] {
  const types = new Set(alternatives.map(jsonTypeOfNode).filter((type) => type !== undefined));
  return types.size > 1 ? [...types] : [];
}

/** Tells which of several kinds of objects it is: `[image]` for an item of an array, `(enabled)` for one alone. */
function inKind(here: Here, chosen: SchemaNode, alternatives: readonly SchemaNode[]): Here {
  const kinds = alternatives.filter((each) => each.properties !== undefined);
  if (kinds.length < 2 || !kinds.includes(chosen)) return here;
  const kind = kindOf(chosen);
  const withKind = (schemaPath: string) =>
    schemaPath.endsWith("[]") ? `${schemaPath.slice(0, -2)}[${kind}]` : `${schemaPath}(${kind})`;
  return { ...here, schemaPath: withKind(here.schemaPath), field: withKind(here.field) };
}

function kindOf(node: SchemaNode): string {
  const tag = node.properties?.["type"] ?? node.properties?.["role"];
  const options = tag?.anyOf ?? (tag === undefined ? [] : [tag]);
  for (const option of options) {
    if (typeof option.const === "string") return option.const;
    if (option["x-expected"] !== undefined) return option["x-expected"].replaceAll('"', "");
    if (option.not !== undefined) return "another";
  }
  return "object";
}
