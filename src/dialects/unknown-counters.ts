import { isObject, type JsonObject, numberOf } from "../base/json.ts";
import { MAX_UNKNOWN_COUNTERS } from "../canon/usage.ts";

/** A name that may appear in a receipt and in a metric as the host spells it. */
const NAME = /^[A-Za-z0-9_.-]{1,80}$/;

/** No host nests its counters deeper than this. */
const MAX_DEPTH = 4;

/** Known names by their steps, so that every answer is checked without putting paths together. */
type Known = Map<string, Known | typeof COVERED>;
/** The entry, and everything inside. */
const COVERED = "covered";

const trees = new WeakMap<ReadonlySet<string>, Known>();

function treeOf(paths: ReadonlySet<string>): Known {
  const made = trees.get(paths);
  if (made !== undefined) return made;
  const tree: Known = new Map();
  for (const path of paths) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let at = tree;
    for (const step of steps) {
      const next = at.get(step);
      if (next === COVERED) break;
      const inner: Known = next ?? new Map();
      at.set(step, inner);
      at = inner;
    }
    at.set(last, COVERED);
  }
  trees.set(paths, tree);
  return tree;
}

/**
 * The names of the counters in `raw` that are not zero and not in `known`, with `holder` in front: `usage.foo_tokens`. An entry
 * of `known` is a path; where it names an object or a list, it covers everything inside. Entries of lists have no index; one with
 * a `modality` has that as a step of its path.
 */
export function unknownCounters(
  holder: string,
  raw: JsonObject,
  known: ReadonlySet<string>,
): readonly string[] | undefined {
  const found: string[] = [];
  visitMembers(raw, treeOf(known), holder, found, 0);
  return found.length === 0 ? undefined : found;
}

function visitMembers(value: JsonObject, known: Known | undefined, path: string, found: string[], depth: number): void {
  for (const key in value) {
    const member = value[key];
    if (member === 0 || member === null) continue;
    if (typeof member !== "number" && typeof member !== "object") continue;
    const entry = known?.get(key);
    if (entry !== COVERED) visitMember(member, entry, `${path}.${key}`, found, depth);
  }
}

function visitMember(member: unknown, known: Known | undefined, path: string, found: string[], depth: number): void {
  if (Array.isArray(member)) {
    if (depth === MAX_DEPTH) return;
    for (const entry of member) {
      const modality = isObject(entry) ? entry["modality"] : undefined;
      if (typeof modality !== "string") visitMember(entry, known, path, found, depth + 1);
      else {
        const inner = known?.get(modality);
        if (inner !== COVERED) visitMember(entry, inner, `${path}.${modality}`, found, depth + 1);
      }
    }
  } else if (isObject(member)) {
    if (depth < MAX_DEPTH) visitMembers(member, known, path, found, depth + 1);
  } else if ((numberOf(member) ?? 0) !== 0 && found.length < MAX_UNKNOWN_COUNTERS) {
    const name = NAME.test(path) ? path : `${path.slice(0, path.indexOf("."))}.other`;
    if (!found.includes(name)) found.push(name);
  }
}
