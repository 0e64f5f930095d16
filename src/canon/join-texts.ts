import type { CanonCall, Turn } from "./call.ts";
import type { Part, TextPart } from "./part.ts";

/**
 * Joins whitespace-only texts to the adjacent text, for providers that reject them. Leaving them out would run the words together. Some
 * clients keep one message per stream chunk, so the neighbour may be in another turn of the same role. Other texts stay separate: providers
 * read adjacent texts as one.
 */
export function joinTexts(call: CanonCall): CanonCall {
  const turns: Turn[] = [];
  let joined = false;
  /** The last text written and its position, as long as only turns of its role followed. */
  let open: { part: TextPart; parts: Part[]; at: number } | undefined;
  for (const turn of call.turns) {
    const before = turns.at(-1);
    if (before?.role !== turn.role || turn.role === "system" || before.name !== turn.name) open = undefined;
    const parts: Part[] = [];
    for (const part of turn.parts) {
      if (part.type === "text" && open !== undefined && belong(open.part, part)) {
        open.part = { ...open.part, ...part, ...pathOf(open.part), text: open.part.text + part.text };
        open.parts[open.at] = open.part;
        joined = true;
        continue;
      }
      // Empty texts can be left out, and separate nothing.
      if (part.type !== "text") open = undefined;
      else if (part.text !== "") open = { part, parts, at: parts.length };
      parts.push(part);
    }
    turns.push({ ...turn, parts });
  }
  return joined ? { ...call, turns } : call;
}

/** Text after a cache mark is a different prefix, unless it is only whitespace. */
function belong(one: TextPart, next: TextPart): boolean {
  if (next.text === "" || !isPlain(one) || !isPlain(next)) return false;
  return isBlank(next) || (isBlank(one) && one.cache === undefined);
}

const isPlain = ({ citations = [], extras }: TextPart): boolean => citations.length === 0 && extras === undefined;
const isBlank = ({ text }: TextPart): boolean => text.trim() === "";
const pathOf = ({ path }: TextPart) => (path === undefined ? {} : { path });
