import type { CanonCall } from "./call.ts";
import { fieldPath } from "./field-names.ts";
import type { Notes } from "./notes.ts";
import type { CacheMark, Part } from "./part.ts";

interface Marked {
  cache?: CacheMark;
  path?: string;
}

/** The call with so many cache marks at most: later ones cover more of the prompt, so that the earliest go. */
export function withMostMarks(call: CanonCall, most: number, notes: Notes): CanonCall {
  const marked: Marked[] = [
    ...call.tools,
    ...call.system,
    ...call.turns.flatMap(({ parts }): readonly Marked[] => parts),
  ].filter(({ cache }) => cache !== undefined);
  const beyond = new Set(marked.slice(0, Math.max(0, marked.length + (cachesAll(call) ? 1 : 0) - most)));
  if (beyond.size === 0) return call;
  const reason = `the target takes at most ${most} cache marks, and later ones cover more of the prompt`;
  for (const holder of beyond) notes.dropped(fieldPath(call.fieldNames, holder, "cache"), reason);
  const unmarked = <T extends Marked>(holder: T): T => {
    if (!beyond.has(holder)) return holder;
    const { cache: _cache, ...rest } = holder;
    return rest as T;
  };
  return {
    ...call,
    tools: call.tools.map(unmarked),
    system: call.system.map(unmarked),
    turns: call.turns.map((turn) => ({ ...turn, parts: turn.parts.map(unmarked) })),
  };
}

/** Whether the prompt is to be cached as a whole, which counts as one more mark. */
export const cachesAll = ({ cache }: Pick<CanonCall, "cache">): boolean => cache !== undefined && !cache.explicit;

const LENGTHENED = "the target keeps a prefix for five minutes or an hour: an hour was asked for";

/**
 * The call with marks of five minutes and of an hour alone, for targets that know no others. A mark asks for a least age. Without one it
 * takes that of the whole call in the dialects that have both.
 */
export function withHourAges(call: CanonCall, notes: Notes): CanonCall {
  const fits = (ttl: CacheMark["ttl"]): boolean => ttl === undefined || ttl === "5m" || ttl === "1h";
  const ageOf = ({ cache }: Marked) => cache?.ttl ?? (cache?.field === undefined ? undefined : call.cache?.ttl);
  const holders: Marked[] = [
    ...call.tools,
    ...call.system,
    ...call.turns.flatMap(({ parts }) => parts.flatMap(inside)),
  ];
  const long = new Set(holders.filter((holder) => !fits(ageOf(holder))));
  if (long.size === 0 && fits(call.cache?.ttl)) return call;
  for (const holder of long) notes.approximated(fieldPath(call.fieldNames, holder, "cache"), LENGTHENED);
  const fitted = <T extends Marked>(holder: T): T =>
    long.has(holder) ? { ...holder, cache: { ...holder.cache, ttl: "1h" } } : holder;
  const { cache } = call;
  if (cache !== undefined && !fits(cache.ttl) && cachesAll(call)) {
    notes.approximated(call.paths.cache ?? "cache", LENGTHENED);
  }
  return {
    ...call,
    tools: call.tools.map(fitted),
    system: call.system.map(fitted),
    turns: call.turns.map((turn) => ({
      ...turn,
      parts: turn.parts.map((part) =>
        part.type === "tool-result" ? { ...fitted(part), content: part.content.map(fitted) } : fitted(part),
      ),
    })),
    ...(cache === undefined || fits(cache.ttl) ? {} : { cache: { ...cache, ttl: "1h" as const } }),
  };
}

/** A part, and what stands in it with marks of its own. */
const inside = (part: Part): readonly Marked[] => (part.type === "tool-result" ? [part, ...part.content] : [part]);

const SHORTENED = "the target lets no mark of an hour follow one of five minutes: this one lasts five minutes too";

/** The call without a mark of an hour after one of five minutes, which hosts refuse wherever the two stand. */
export function withFallingAges(call: CanonCall, notes: Notes): CanonCall {
  const holders: Marked[] = [
    ...call.tools,
    ...call.system,
    ...call.turns.flatMap(({ parts }): readonly Marked[] => parts),
  ].filter(({ cache }) => cache !== undefined);
  const first = holders.findIndex(({ cache }) => cache?.ttl !== "1h");
  if (first < 0) return call;
  const cut = new Set(holders.slice(first).filter(({ cache }) => cache?.ttl === "1h"));
  const whole = call.cache?.ttl === "1h";
  if (cut.size === 0 && !whole) return call;
  for (const holder of cut) notes.approximated(fieldPath(call.fieldNames, holder, "cache"), SHORTENED);
  const short = <T extends Marked>(holder: T): T => (cut.has(holder) ? { ...holder, cache: {} } : holder);
  if (whole) notes.approximated(call.paths.cache ?? "cache", SHORTENED);
  return {
    ...call,
    tools: call.tools.map(short),
    system: call.system.map(short),
    turns: call.turns.map((turn) => ({ ...turn, parts: turn.parts.map(short) })),
    ...(whole ? { cache: {} } : {}),
  };
}
