import type { TextPlaces } from "../../wire/long-texts.ts";

const PART: TextPlaces = {
  keys: new Set(["type", "text", "cache_control"]),
  types: new Set(["text"]),
  texts: ["text"],
};

/** The texts of messages without annotations, reasoning or a name for what they are. */
export const textPlaces: TextPlaces = {
  within: {
    messages: {
      keys: new Set(["role", "content", "name", "tool_calls", "tool_call_id"]),
      texts: ["content"],
      within: { content: PART },
    },
  },
};
