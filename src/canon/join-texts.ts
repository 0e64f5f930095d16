import type { CanonCall, Turn } from "./call.ts";
import type { Part, TextPart } from "./part.ts";

/**
 * The call with texts of nothing but white space put to the text next to them, for hosts that refuse such texts: left out, the words around
 * them would run together. Some clients keep one message for each chunk of a stream, so that the neighbour may stand in another turn
 * of the same role. Texts that have something to read stay as they are: neighbours are read as one anyway.
 */
export function joinTexts(call: CanonCall): CanonCall {
  const turns: Turn[] = [];
  let joined = false;
  /** The text that was written last, and where: nothing else has come after it in turns of its role. */
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
      // An empty text is left out without a loss, and stands between nothing.
      if (part.type !== "text") open = undefined;
      else if (part.text !== "") open = { part, parts, at: parts.length };
      parts.push(part);
    }
    turns.push({ ...turn, parts });
  }
  return joined ? { ...call, turns } : call;
}

/** Behind a cache mark the prompt is another one, unless nothing but white space follows. */
function belong(one: TextPart, next: TextPart): boolean {
  if (next.text === "" || !isPlain(one) || !isPlain(next)) return false;
  return isBlank(next) || (isBlank(one) && one.cache === undefined);
}

const isPlain = ({ citations = [], extras }: TextPart): boolean => citations.length === 0 && extras === undefined;
const isBlank = ({ text }: TextPart): boolean => text.trim() === "";
const pathOf = ({ path }: TextPart) => (path === undefined ? {} : { path });
