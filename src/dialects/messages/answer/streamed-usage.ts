import { arrayAt, type JsonObject, objectAt } from "../../../base/json.ts";
import { countAt, MAX_UNKNOWN_COUNTERS, type Usage } from "../../../canon/usage.ts";
import { cacheWrites, decodeUsage, HOUR, MINUTES, SERVER_TOOLS, SPLIT, TOTAL, unknownIn } from "./usage.ts";

const PROMPT_KEYS = ["input_tokens", "cache_read_input_tokens", TOTAL, SPLIT];
const COMPLETION_KEYS = ["output_tokens", "output_tokens_details"];
const PASSES = "iterations";

/** The host decides how many members its usage has, and all are examined again with each event that adds to them (S18). */
const MAX_MEMBERS = 64;
const ALWAYS_KEPT: ReadonlySet<string> = new Set([
  ...PROMPT_KEYS,
  ...COMPLETION_KEYS,
  PASSES,
  SERVER_TOOLS,
  "service_tier",
]);

/** Before the first event. */
const NOTHING: JsonObject = {};

/**
 * The counters of a stream's events: the later figure counts, counter by counter (H27, H60). Zeros never replace a count (H39), and
 * counters that an event lacks are kept.
 */
export class StreamedUsage {
  #raw: JsonObject = NOTHING;
  readonly #unknown = new Set<string>();

  /** As the host reported it. */
  get raw(): JsonObject {
    return this.#raw;
  }

  get decoded(): Usage | undefined {
    const usage = decodeUsage(this.#raw);
    if (usage === undefined || this.#unknown.size === 0) return usage;
    const unknown = new Set([...(usage.unknown ?? []), ...this.#unknown]);
    return { ...usage, unknown: [...unknown].slice(0, MAX_UNKNOWN_COUNTERS) };
  }

  /**
   * Takes the prompt counters of the first event. Its output count only covers the start of the response and must not pass for
   * the total.
   */
  begin(reported: JsonObject): void {
    const { output_tokens: _begun, ...prompt } = reported;
    this.#take(prompt);
  }

  /** Takes the usage of a later event. Returns what that event may show: no zero in place of a count. */
  add(reported: JsonObject): JsonObject {
    return this.#take(reported);
  }

  #take(reported: JsonObject): JsonObject {
    // Includes counts that an earlier value replaces.
    for (const name of unknownIn(reported)) if (this.#unknown.size < MAX_UNKNOWN_COUNTERS) this.#unknown.add(name);
    const counted = this.#counted(reported);
    this.#raw = merged(this.#raw, counted);
    return counted;
  }

  /** The usage of a later event, with earlier counters in place of zeros. */
  #counted(later: JsonObject): JsonObject {
    const known = this.#raw;
    if (known === NOTHING) return later;
    const keep = [
      ...(promptOf(known) > 0 && promptOf(merged(known, later)) === 0 ? PROMPT_KEYS : []),
      ...(countAt(later, "output_tokens") === 0 && (countAt(known, "output_tokens") ?? 0) > 0 ? COMPLETION_KEYS : []),
    ].filter((key) => key in later);
    const tools = usesBefore(objectAt(known, SERVER_TOOLS), objectAt(later, SERVER_TOOLS));
    if (keep.length === 0 && tools === undefined) return later;
    const counted: Record<string, unknown> = { ...later, ...tools };
    for (const key of keep) {
      if (key in known) counted[key] = known[key];
      else delete counted[key];
    }
    return counted;
  }
}

/** A total without its split keeps what fits of a split that was reported earlier (H27). */
function merged(known: JsonObject, later: JsonObject): JsonObject {
  const both: Record<string, unknown> = { ...known };
  for (const key in later) {
    const value = later[key];
    // Passes that were reported have run, even if a later event has none.
    const isEmptied = key === PASSES && arrayAt(later, PASSES).length === 0;
    if (value !== null && !isEmptied && (key in both || hasRoom(both, key))) both[key] = value;
  }
  const total = countAt(later, TOTAL);
  if (objectAt(later, SPLIT)) {
    if (total === undefined) delete both[TOTAL];
    return both;
  }
  const split = objectAt(both, SPLIT);
  if (total === undefined || split === undefined) return both;
  const hour = Math.min(countAt(split, HOUR) ?? 0, total);
  if (hour !== countAt(split, HOUR) || total - hour !== countAt(split, MINUTES))
    both[SPLIT] = { [MINUTES]: total - hour, [HOUR]: hour };
  return both;
}

const hasRoom = (known: JsonObject, key: string): boolean =>
  ALWAYS_KEPT.has(key) || Object.keys(known).length < MAX_MEMBERS;

/** Undefined if no count of a tool became zero. */
function usesBefore(earlier: JsonObject | undefined, later: JsonObject | undefined): JsonObject | undefined {
  if (earlier === undefined || later === undefined) return undefined;
  const kept = Object.entries(earlier)
    .filter(([key]) => (countAt(earlier, key) ?? 0) > 0 && !countAt(later, key))
    .slice(0, MAX_MEMBERS);
  return kept.length === 0 ? undefined : { [SERVER_TOOLS]: { ...later, ...Object.fromEntries(kept) } };
}

function promptOf(raw: JsonObject): number {
  const { minutes = 0, hour = 0 } = cacheWrites(raw);
  return (countAt(raw, "input_tokens") ?? 0) + (countAt(raw, "cache_read_input_tokens") ?? 0) + minutes + hour;
}
