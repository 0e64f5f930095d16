import { nameOf, publisherOf } from "../model.ts";
import type { ModelEntry } from "../models-schema.ts";

/** What a request to a model depends on. Prices, limits and dates are each model's own. */
const TRAITS = [
  "best_dialect",
  "tools_dialect",
  "cache_breakpoints",
  "tool_search",
  "compaction",
  "reasoning_form",
  "efforts",
  "budget",
  "rejects_sampling",
  "rejects_penalties",
  "rejects_forced_tools",
  "binds_thinking",
  "rejects_stop",
  "demands_signatures",
  "media_in_tool_results",
  "structured_output",
  "schema_beside_tools",
  "prefill",
  "system_messages",
] as const satisfies readonly (keyof ModelEntry)[];

export type Traits = Pick<ModelEntry, (typeof TRAITS)[number]>;

/**
 * The known model of the same publisher, kind and family whose version is nearest, and the newest of those: `claude-opus-5` for
 * `claude-opus-5-5`.
 */
export function familyOf(
  { id, kind }: Pick<ModelEntry, "id" | "kind">,
  known: Iterable<ModelEntry>,
): ModelEntry | undefined {
  const wanted = stemOf(id);
  const version = versionOf(id);
  const distance = (entry: ModelEntry) => Math.abs(versionOf(entry.id) - version);
  const members = [...known].filter(
    (entry) => entry.kind === kind && publisherOf(entry.id) === publisherOf(id) && stemOf(entry.id) === wanted,
  );
  return members.sort(
    (one, other) => distance(one) - distance(other) || (other.created ?? "").localeCompare(one.created ?? ""),
  )[0];
}

/** The first number in a name: 5.5 for `claude-opus-5-5`, 0 where there is none. */
function versionOf(id: string): number {
  const [, major, minor] = /(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(nameOf(id)) ?? [];
  return Number(`${major ?? 0}.${minor ?? 0}`);
}

/** The words of a name without its versions and dates. */
const stemOf = (id: string): string =>
  nameOf(id)
    .split(/[-_.]/)
    .filter((word) => !/^v?\d/.test(word))
    .join("-");

export const traitsOf = (entry: ModelEntry): Traits =>
  Object.fromEntries(TRAITS.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])));
