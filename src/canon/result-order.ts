import { positionsOf } from "../base/positions-of.ts";
import type { Turn } from "./call.ts";
import type { Part } from "./part.ts";

/** Sorts tool results into the order of their calls, for targets that match them by position. */
export function resultsInCallOrder(turns: readonly Turn[]): readonly Turn[] {
  let positions: ReadonlyMap<string, number> = new Map();
  return turns.map((turn) => {
    if (turn.role === "assistant") {
      positions = positionsOf(turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])));
      return turn;
    }
    const parts = inOrder(turn.parts, positions);
    return parts === turn.parts ? turn : { ...turn, parts };
  });
}

/** Only results swap places. Those that answer no call of the preceding turn come last. */
function inOrder(parts: readonly Part[], positions: ReadonlyMap<string, number>): readonly Part[] {
  const results = parts.filter((part) => part.type === "tool-result");
  const position = (id: string) => positions.get(id) ?? Number.MAX_SAFE_INTEGER;
  const sorted = results.toSorted((one, other) => position(one.callId) - position(other.callId));
  if (sorted.every((result, index) => result === results[index])) return parts;
  const next = sorted.values();
  return parts.map((part) => (part.type === "tool-result" ? (next.next().value ?? part) : part));
}

/**
 * Moves system messages between a call and its results after the results, because providers require results to follow their calls (H50).
 * Calls `moved` for each.
 */
export function resultsBeforeSystem(turns: readonly Turn[], moved: (turn: Turn) => void = () => {}): readonly Turn[] {
  let ordered: Turn[] | undefined;
  for (let index = 0; index < turns.length; index++) {
    const current: readonly Turn[] = ordered ?? turns;
    if (!current[index]?.parts.some(({ type }) => type === "tool-call")) continue;
    let end = index + 1;
    while (current[end]?.role === "system") end += 1;
    const results = current[end];
    if (end === index + 1 || !results?.parts.some(({ type }) => type === "tool-result")) continue;
    const between = current.slice(index + 1, end);
    for (const turn of between) moved(turn);
    ordered = [...current.slice(0, index + 1), results, ...between, ...current.slice(end + 1)];
  }
  return ordered ?? turns;
}
