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
  let found: Set<string> | undefined;
  const visit = (value: unknown, path: string, depth: number): void => {
    const count = numberOf(value);
    if (count !== undefined) {
      if (count === 0 || known.has(path)) return;
      found ??= new Set();
      if (found.size < MAX_UNKNOWN_COUNTERS) found.add(NAME.test(path) ? `${holder}.${path}` : `${holder}.other`);
      return;
    }
    if (typeof value !== "object" || value === null || depth === MAX_DEPTH || known.has(path)) return;
    if (Array.isArray(value)) {
      for (const entry of value) {
        const modality = isObject(entry) ? entry["modality"] : undefined;
        visit(entry, typeof modality === "string" ? `${path}.${modality}` : path, depth + 1);
      }
      return;
    }
    for (const [key, member] of Object.entries(value)) visit(member, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  visit(raw, "", 0);
  return found === undefined ? undefined : [...found];
}
