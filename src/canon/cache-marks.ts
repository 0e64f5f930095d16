import type { CanonCall } from "./call.ts";
import { fieldPath } from "./field-names.ts";
import type { Notes } from "./notes.ts";
import type { CacheMark } from "./part.ts";

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
  const beyond = new Set(marked.slice(0, Math.max(0, marked.length + (call.cache === undefined ? 0 : 1) - most)));
  if (beyond.size === 0) return call;
  const reason = `the target takes at most ${most} cache marks, and later ones cover more of the prompt`;
  for (const { path } of beyond) notes.dropped(fieldPath(call.fieldNames, path, "cache"), reason);
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
  for (const { path } of cut) notes.approximated(fieldPath(call.fieldNames, path, "cache"), SHORTENED);
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
