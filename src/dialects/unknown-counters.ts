import { isObject, type JsonObject, numberOf } from "../base/json.ts";
import { MAX_UNKNOWN_COUNTERS } from "../canon/usage.ts";

/** A name that may appear in a receipt and in a metric as the host spells it. */
const NAME = /^[A-Za-z0-9_.-]{1,80}$/;

/** No host nests its counters deeper than this. */
const MAX_DEPTH = 4;

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
  visitMembers(raw, "", { holder, known, found }, 0);
  return found.length === 0 ? undefined : found;
}

interface Visit {
  holder: string;
  known: ReadonlySet<string>;
  found: string[];
}

/** Every answer is read so: most members are zero, or known, and cost no more than to look at them. */
function visitMembers(value: JsonObject, prefix: string, visit: Visit, depth: number): void {
  for (const key in value) {
    const member = value[key];
    if (member === 0 || member === null) continue;
    if (typeof member === "number" || typeof member === "object") {
      visitMember(member, prefix === "" ? key : `${prefix}.${key}`, visit, depth);
    }
  }
}

function visitMember(member: unknown, path: string, visit: Visit, depth: number): void {
  const { holder, known, found } = visit;
  if (known.has(path)) return;
  if (Array.isArray(member)) {
    for (const entry of member) {
      const modality = isObject(entry) ? entry["modality"] : undefined;
      if (depth < MAX_DEPTH)
        visitMember(entry, typeof modality === "string" ? `${path}.${modality}` : path, visit, depth + 1);
    }
  } else if (isObject(member)) {
    if (depth < MAX_DEPTH) visitMembers(member, path, visit, depth + 1);
  } else if ((numberOf(member) ?? 0) !== 0 && found.length < MAX_UNKNOWN_COUNTERS) {
    const name = NAME.test(path) ? `${holder}.${path}` : `${holder}.other`;
    if (!found.includes(name)) found.push(name);
  }
}
