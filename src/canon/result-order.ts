import { positionsOf } from "../base/positions-of.ts";
import type { Turn } from "./call.ts";
import type { Part } from "./part.ts";

/** The turns with the results of tools in the order of their calls, for targets that tell them apart by their place alone. */
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

/** Only results change places, among themselves; what answers no call of the turn before stays after the others. */
function inOrder(parts: readonly Part[], positions: ReadonlyMap<string, number>): readonly Part[] {
  const results = parts.filter((part) => part.type === "tool-result");
  const position = (id: string) => positions.get(id) ?? Number.MAX_SAFE_INTEGER;
  const sorted = results.toSorted((one, other) => position(one.callId) - position(other.callId));
  if (sorted.every((result, index) => result === results[index])) return parts;
  const next = sorted.values();
  return parts.map((part) => (part.type === "tool-result" ? (next.next().value ?? part) : part));
}
