import type { TextPlaces } from "../../wire/long-texts.ts";

const TEXT: TextPlaces = {
  keys: new Set(["type", "text", "cache_control"]),
  types: new Set(["text"]),
  texts: ["text"],
};

const BLOCK: TextPlaces = {
  keys: new Set(["type", "text", "cache_control", "tool_use_id", "content", "is_error"]),
  types: new Set(["text", "tool_result"]),
  texts: ["text", "content"],
  within: { content: TEXT },
};

const TOOL: TextPlaces = { types: new Set(["", "custom"]), texts: ["description"] };

/** The instructions, the descriptions of tools, the texts of messages without citations, and those of results. */
export const textPlaces: TextPlaces = {
  texts: ["system"],
  within: {
    system: TEXT,
    tools: TOOL,
    messages: { keys: new Set(["role", "content"]), texts: ["content"], within: { content: BLOCK } },
  },
};
