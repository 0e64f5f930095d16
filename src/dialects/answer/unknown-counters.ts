import { isObject, type JsonObject, numberOf } from "../../base/json.ts";
import { isCount, MAX_UNKNOWN_COUNTERS } from "../../canon/usage.ts";

/** A name that may appear in a receipt and a metric as the host writes it. */
const NAME = /^[A-Za-z0-9_.-]{1,80}$/;

/** No host nests its counters deeper. */
const MAX_DEPTH = 4;

/** What a dialect's decoder knows of a usage, by paths such as `prompt_tokens_details.cached_tokens`. */
export interface KnownCounters {
  /** Integers. An invalid value is named, since it cannot be billed. */
  readonly counts: readonly string[];
  /** Money, time, and what is read elsewhere. An object or array is covered with everything inside. */
  readonly others?: readonly string[];
}

/** Known names by path step, so that responses are checked without joining paths. */
type Known = Map<string, Known | typeof COVERED | typeof COUNT>;
/** The entry and everything inside. */
const COVERED = "covered";
const COUNT = "count";

const trees = new WeakMap<KnownCounters, Known>();

function treeOf(known: KnownCounters): Known {
  const made = trees.get(known);
  if (made !== undefined) return made;
  const tree: Known = new Map();
  for (const path of known.counts) plant(tree, path, COUNT);
  for (const path of known.others ?? []) plant(tree, path, COVERED);
  trees.set(known, tree);
  return tree;
}

function plant(tree: Known, path: string, leaf: typeof COVERED | typeof COUNT): void {
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let at = tree;
  for (const step of steps) {
    const next = at.get(step);
    if (typeof next === "string") return;
    const inner: Known = next ?? new Map();
    at.set(step, inner);
    at = inner;
  }
  at.set(last, leaf);
}

/**
 * The names of the counters in `raw` that cannot be billed, prefixed with `holder`: `usage.foo_tokens`. These are unknown numbers
 * other than zero, and known counts with an invalid value. List entries have no index; one with a `modality` has it as a step of
 * its path.
 */
export function unknownCounters(holder: string, raw: JsonObject, known: KnownCounters): readonly string[] | undefined {
  const found: string[] = [];
  visitMembers(raw, treeOf(known), holder, found, 0);
  return found.length === 0 ? undefined : found;
}

/** The same for an object whose members with this suffix each count the uses of a tool. */
export function unknownToolCounters(holder: string, raw: JsonObject | undefined, ending: string): readonly string[] {
  if (raw === undefined) return NO_NAMES;
  const counts = Object.keys(raw).filter((key) => key.endsWith(ending));
  return unknownCounters(holder, raw, { counts }) ?? NO_NAMES;
}

const NO_NAMES: readonly string[] = [];

function visitMembers(value: JsonObject, known: Known | undefined, path: string, found: string[], depth: number): void {
  for (const key in value) {
    const member = value[key];
    if (member === 0 || member === null || member === undefined) continue;
    const entry = known?.get(key);
    if (entry === COVERED) continue;
    if (entry === COUNT) {
      if (!isCount(member)) name(`${path}.${key}`, found);
    } else if (typeof member === "number" || typeof member === "object") {
      visitMember(member, entry, `${path}.${key}`, found, depth);
    }
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
        if (typeof inner !== "string") visitMember(entry, inner, `${path}.${modality}`, found, depth + 1);
      }
    }
  } else if (isObject(member)) {
    if (depth < MAX_DEPTH) visitMembers(member, known, path, found, depth + 1);
  } else if ((numberOf(member) ?? 0) !== 0) name(path, found);
}

function name(path: string, found: string[]): void {
  if (found.length === MAX_UNKNOWN_COUNTERS) return;
  const shown = NAME.test(path) ? path : `${path.slice(0, path.indexOf("."))}.other`;
  if (!found.includes(shown)) found.push(shown);
}
