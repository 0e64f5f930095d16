import type { Turn } from "./call.ts";
import type { Part } from "./part.ts";

/** The turns with the results of tools in the order of their calls, for targets that tell them apart by their place alone. */
export function resultsInCallOrder(turns: readonly Turn[]): readonly Turn[] {
  let calls: readonly string[] = [];
  return turns.map((turn) => {
    if (turn.role === "assistant") {
      calls = turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
      return turn;
    }
    const parts = inOrder(turn.parts, calls);
    return parts === turn.parts ? turn : { ...turn, parts };
  });
}

/** Only results change places, among themselves; what answers no call of the turn before stays behind the others. */
function inOrder(parts: readonly Part[], calls: readonly string[]): readonly Part[] {
  const results = parts.filter((part) => part.type === "tool-result");
  const place = (id: string) => (calls.includes(id) ? calls.indexOf(id) : calls.length);
  const sorted = results.toSorted((one, other) => place(one.callId) - place(other.callId));
  if (sorted.every((result, index) => result === results[index])) return parts;
  const next = sorted.values();
  return parts.map((part) => (part.type === "tool-result" ? (next.next().value ?? part) : part));
}
