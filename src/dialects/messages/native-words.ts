import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { NativePart } from "../../canon/part.ts";

/** Marks where one model's response gives way to another's. It is not part of the prompt. */
export const FALLBACK = "fallback";

const SEARCHED = "this protocol has no tool search; the tools that it found were sent from the start";

/**
 * What targets of other dialects receive for a block that only this dialect has, so that a session can continue there: the
 * summary of a compacted conversation (H52), and the names of tools that a search found (H51).
 */
export function elsewhereOf(type: string, block: JsonObject): NativePart["elsewhere"] {
  switch (type) {
    case "compaction": {
      const summary = stringAt(block, "content");
      return summary
        ? { words: summary, reason: "this protocol does not support compaction; the summary was sent as text" }
        : undefined;
    }
    case "tool_reference": {
      const name = stringAt(block, "tool_name");
      const reason = "this protocol has no tool references; the tool's name was sent as text";
      return name ? { words: `The tool ${name} is available.`, reason } : undefined;
    }
    case "tool_search_tool_result":
      return { reason: SEARCHED };
    case "server_tool_use":
      return stringAt(block, "name")?.startsWith("tool_search_tool_") ? { reason: SEARCHED } : undefined;
    case FALLBACK:
      return {};
    case "tool_addition":
      return addedTool(block) === undefined
        ? undefined
        : { reason: "this protocol cannot add tools during a conversation; the tool was sent from the start" };
    default:
      return undefined;
  }
}

/** The tool definition in a block; undefined if it names a tool of the request's list. */
export const addedTool = (block: JsonObject): JsonObject | undefined => objectAt(objectAt(block, "tool"), "definition");
