import { isObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { pathTo } from "./explain-mismatch.ts";
import { alternativesOf, type SchemaNode } from "./schema-node.ts";

/** The names that the gateway reads in one object of a request, and in the objects inside it. */
export interface ReadNames {
  readonly known: ReadonlySet<string>;
  /** The correct spelling of each name, by its case-folded form. */
  readonly folded: ReadonlyMap<string, string>;
  readonly inside: ReadonlyMap<string, ReadNames>;
}

/** The nesting depth of names that are read. Schemas may be recursive. */
const MAX_DEPTH = 4;

/**
 * The names that a schema reads, except in arrays, which hold the client's content. `more` are names that are read although the
 * schema does not have them.
 */
export function readNamesOf(schema: SchemaNode, more: readonly string[] = []): ReadNames {
  return namesOf([schema], more, MAX_DEPTH);
}

function namesOf(nodes: readonly SchemaNode[], more: readonly string[], levels: number): ReadNames {
  const properties = nodes.flatMap(({ properties = {} }) => Object.entries(properties));
  const known = new Set([...properties.map(([name]) => name), ...more]);
  const inside = new Map<string, ReadNames>();
  for (const name of levels === 0 ? [] : known) {
    const objects = properties.flatMap(([other, node]) => (other === name ? objectsOf(node) : []));
    if (objects.length > 0) inside.set(name, namesOf(objects, [], levels - 1));
  }
  return { known, folded: new Map([...known].map((name) => [fold(name), name])), inside };
}

function objectsOf(node: SchemaNode): SchemaNode[] {
  if (node.$ref !== undefined) return [];
  return alternativesOf(node, node.$defs ?? {}).filter(({ properties }) => properties !== undefined);
}

/** Folds as case-insensitive readers do, including the two non-ASCII letters that they treat as `k` and `s`. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("\u017f", "s").replaceAll("\u212a", "k");
}

/**
 * Case-insensitive hosts would read `Model` or `MAX_TOKENS` as a field that the gateway has checked, priced and limited under its
 * proper name (S15).
 */
export function refuseMiscasedKeys(body: unknown, names: ReadNames, path = ""): void {
  if (!isObject(body)) return;
  for (const key in body) {
    if (names.known.has(key)) {
      const inside = names.inside.get(key);
      if (inside !== undefined) refuseMiscasedKeys(body[key], inside, pathTo(path, key));
      continue;
    }
    const meant = names.folded.get(fold(key));
    if (meant === undefined) continue;
    const position = pathTo(path, key);
    throw new GatewayError("invalid_request", `${position} must be written ${meant}: field names are case-sensitive.`, {
      path: position,
    });
  }
}
