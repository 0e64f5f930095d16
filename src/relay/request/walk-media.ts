import type { CanonCall } from "../../canon/call.ts";
import type { MediaPart, Part } from "../../canon/part.ts";

type Visit = (part: MediaPart, path: string) => MediaPart;

/** A copy of a call with its media replaced. */
export function walkMedia(call: CanonCall, visit: Visit): CanonCall {
  return { ...call, turns: call.turns.map((turn) => ({ ...turn, parts: walk(turn.parts, turn.path, visit) })) };
}

/** All media at any depth: in tool results, search results and documents made of parts. */
function walk<P extends Part>(parts: readonly P[], parentPath: string, visit: Visit): P[] {
  return parts.map((part: Part) => {
    const path = part.path ?? parentPath;
    if (part.type === "tool-result" || part.type === "search-result")
      return { ...part, content: walk<Part>(part.content, path, visit) };
    if (part.type !== "media") return part;
    if (part.source.type !== "parts") return visit(part, path);
    return { ...part, source: { ...part.source, parts: walk(part.source.parts, path, visit) } };
  }) as P[];
}
