import type { TextPlaces } from "../../wire/long-texts.ts";

const PART: TextPlaces = {
  keys: new Set(["type", "text"]),
  types: new Set(["input_text", "output_text", "text"]),
  texts: ["text"],
};

const TOOL: TextPlaces = { types: new Set(["function"]), texts: ["description"] };

/** The descriptions of functions, the texts of messages without annotations, and those of results. */
export const textPlaces: TextPlaces = {
  within: {
    tools: TOOL,
    input: {
      keys: new Set(["type", "id", "status", "role", "content", "call_id", "output"]),
      types: new Set(["", "message", "function_call_output"]),
      texts: ["content", "output"],
      within: { content: PART, output: PART },
    },
  },
};
