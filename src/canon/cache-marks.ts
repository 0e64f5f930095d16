import type { CanonCall } from "./call.ts";
import { fieldPath } from "./field-names.ts";
import type { Notes } from "./notes.ts";
import type { CacheMark, Part } from "./part.ts";

interface Marked {
  cache?: CacheMark;
  path?: string;
}

/** Everything that can have a mark, in prompt order. A mark on a part covers the part's content, so it comes after the marks inside. */
const holdersOf = ({ tools, system, turns }: CanonCall): readonly Marked[] => [
  ...tools,
  ...system,
  ...turns.flatMap(({ parts }) => parts.flatMap(withInner)),
];

const withInner = (part: Part): readonly Marked[] => [...innerOf(part).flatMap(withInner), part];

function innerOf(part: Part): readonly Part[] {
  if (part.type === "tool-result" || part.type === "search-result") return part.content;
  return part.type === "media" && part.source.type === "parts" ? part.source.parts : [];
}

type Change = <T extends Marked>(holder: T) => T;

const withChanged = (call: CanonCall, change: Change): CanonCall => ({
  ...call,
  tools: call.tools.map(change),
  system: call.system.map(change),
  turns: call.turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => changedPart(part, change)) })),
});

function changedPart<T extends Part>(part: T, change: Change): T {
  const own = change<Part>(part);
  if (innerOf(own).length === 0) return own as T;
  const inner = innerOf(own).map((one) => changedPart(one, change));
  const changed =
    own.type === "media" ? { ...own, source: { type: "parts", parts: inner } } : { ...own, content: inner };
  return changed as Part as T;
}

/** Removes the earliest cache marks if there are more than `most`. Later marks cover more of the prompt. */
export function withMostMarks(call: CanonCall, most: number, notes: Notes): CanonCall {
  const marked = holdersOf(call).filter(({ cache }) => cache !== undefined);
  const beyond = new Set(marked.slice(0, Math.max(0, marked.length + (cachesAll(call) ? 1 : 0) - most)));
  if (beyond.size === 0) return call;
  const reason = `the provider accepts at most ${most} cache marks; the last ones were kept because they cover more of the prompt`;
  for (const holder of beyond) notes.dropped(fieldPath(call.fieldNames, holder, "cache"), reason);
  return withChanged(call, (holder) => {
    if (!beyond.has(holder)) return holder;
    const { cache: _cache, ...rest } = holder;
    return rest as typeof holder;
  });
}

/** Whether the whole prompt is cached, which counts as one more mark. */
export const cachesAll = ({ cache }: Pick<CanonCall, "cache">): boolean => cache !== undefined && !cache.explicit;

const LENGTHENED = "the provider caches for five minutes or one hour; one hour was sent";

/**
 * Rounds marks up to five minutes or one hour, for targets that support only these. A mark sets a minimum age. In dialects that have both,
 * a mark without an age takes the call's.
 */
export function withHourAges(call: CanonCall, notes: Notes): CanonCall {
  const fits = (ttl: CacheMark["ttl"]): boolean => ttl === undefined || ttl === "5m" || ttl === "1h";
  const ageOf = ({ cache }: Marked) => cache?.ttl ?? (cache?.field === undefined ? undefined : call.cache?.ttl);
  const long = new Set(holdersOf(call).filter((holder) => !fits(ageOf(holder))));
  if (long.size === 0 && fits(call.cache?.ttl)) return call;
  for (const holder of long) notes.approximated(fieldPath(call.fieldNames, holder, "cache"), LENGTHENED);
  const { cache } = call;
  if (cache !== undefined && !fits(cache.ttl) && cachesAll(call)) {
    notes.approximated(call.paths.cache ?? "cache", LENGTHENED);
  }
  return {
    ...withChanged(call, (holder) =>
      long.has(holder) ? { ...holder, cache: { ...holder.cache, ttl: "1h" } } : holder,
    ),
    ...(cache === undefined || fits(cache.ttl) ? {} : { cache: { ...cache, ttl: "1h" as const } }),
  };
}

const SHORTENED = "the provider does not allow a one-hour cache mark after a five-minute one; five minutes was sent";

/** Shortens one-hour marks that follow a five-minute mark. Providers reject that order anywhere in the prompt. */
export function withFallingAges(call: CanonCall, notes: Notes): CanonCall {
  const holders = holdersOf(call).filter(({ cache }) => cache !== undefined);
  const first = holders.findIndex(({ cache }) => cache?.ttl !== "1h");
  if (first < 0) return call;
  const cut = new Set(holders.slice(first).filter(({ cache }) => cache?.ttl === "1h"));
  const whole = cachesAll(call) && call.cache?.ttl === "1h";
  if (cut.size === 0 && !whole) return call;
  for (const holder of cut) notes.approximated(fieldPath(call.fieldNames, holder, "cache"), SHORTENED);
  if (whole) notes.approximated(call.paths.cache ?? "cache", SHORTENED);
  return {
    ...withChanged(call, (holder) => (cut.has(holder) ? { ...holder, cache: {} } : holder)),
    ...(whole ? { cache: {} } : {}),
  };
}
