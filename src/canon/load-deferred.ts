import type { CanonCall } from "./call.ts";
import type { Notes } from "./notes.ts";
import type { Part } from "./part.ts";
import type { NativeTool, Tool } from "./tool.ts";

const REASON = "this model does not search for tools; it got all of them from the start";

/**
 * Adapts deferred tools to a target of another dialect (H51). A target that searches for tools keeps them deferred, except those
 * that the conversation has used: what the search found is not in its history. Any other target gets all tools from the start.
 */
export function loadDeferred(call: CanonCall, searches: boolean, notes: Notes): CanonCall {
  if (!call.tools.some((tool) => tool.deferred || isSearch(tool))) return call;
  if (searches && call.tools.some(isSearch)) {
    const used = usedTools(call);
    return { ...call, tools: call.tools.map((tool) => ("name" in tool && used.has(tool.name) ? loaded(tool) : tool)) };
  }
  const tools = call.tools.flatMap((tool) => {
    if (isSearch(tool)) {
      notes.approximated(tool.path, REASON);
      return [];
    }
    if (tool.deferred) notes.approximated(`${tool.path}.defer_loading`, REASON);
    return [loaded(tool)];
  });
  return { ...call, tools };
}

const isSearch = (tool: Tool): tool is NativeTool => tool.type === "native" && tool.means?.type === "tool-search";

function loaded(tool: Tool): Tool {
  if (!tool.deferred) return tool;
  const { deferred: _deferred, ...rest } = tool;
  return rest;
}

function usedTools({ turns }: CanonCall): Set<string> {
  const names = new Set<string>();
  const look = (part: Part) => {
    if (part.type === "tool-call") names.add(part.name);
  };
  for (const { parts } of turns) parts.forEach(look);
  return names;
}
