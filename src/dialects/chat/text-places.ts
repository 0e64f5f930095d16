import type { TextPlaces } from "../../wire/long-texts.ts";

const PART: TextPlaces = {
  keys: new Set(["type", "text", "cache_control"]),
  types: new Set(["text"]),
  texts: ["text"],
};

const TOOL: TextPlaces = {
  types: new Set(["function"]),
  within: { function: { texts: ["description"] } },
};

/** The texts of messages without annotations or reasoning, and the descriptions of functions. */
export const textPlaces: TextPlaces = {
  within: {
    tools: TOOL,
    messages: {
      keys: new Set(["role", "content", "name", "tool_calls", "tool_call_id"]),
      texts: ["content"],
      within: { content: PART },
    },
  },
};
