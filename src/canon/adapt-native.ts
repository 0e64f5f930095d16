import { withoutAbsent } from "../base/without-absent.ts";
import type { CanonCall, Turn } from "./call.ts";
import { loadDeferred } from "./load-deferred.ts";
import type { Notes } from "./notes.ts";
import type { Part, TextPart, ToolResultPart } from "./part.ts";

type Content = ToolResultPart["content"][number];

/**
 * Adapts a call to a target of another dialect. Blocks that only the call's own dialect has become text where they have a text form, and
 * are left out where the rest of the request repeats them. The encoder reports all others. `searches`: the target finds deferred tools.
 */
export function adaptNative(asked: CanonCall, target: string, notes: Notes, searches = false): CanonCall {
  if (asked.dialect === target) return asked;
  const call = loadDeferred(asked, searches, notes);
  if (!call.turns.some(({ parts }) => parts.some(isAdapted))) return call;
  const turns = call.turns.flatMap((turn): Turn[] => {
    const parts = turn.parts.flatMap((part): Part[] => {
      if (part.type !== "tool-result") return inWords(part, notes);
      return [{ ...part, content: part.content.flatMap((inner) => inWords(inner, notes)) }];
    });
    return parts.length === 0 && turn.parts.length > 0 ? [] : [{ ...turn, parts }];
  });
  return { ...call, turns };
}

const isAdapted = (part: Part): boolean =>
  part.type === "tool-result" ? part.content.some(isAdapted) : part.type === "native" && part.elsewhere !== undefined;

function inWords<P extends Part | Content>(part: P, notes: Notes): (P | TextPart)[] {
  if (part.type !== "native" || part.elsewhere === undefined) return [part];
  const { words, reason } = part.elsewhere;
  if (reason !== undefined) notes.approximated(part.path ?? part.name, reason);
  if (words === undefined) return [];
  const { path, cache } = part;
  return [{ type: "text", text: words, ...withoutAbsent({ path, cache }) }];
}
