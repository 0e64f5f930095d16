import type { TextPlaces } from "../../wire/long-texts.ts";

/** A result of this protocol is an object. Only one that stands for a text is not written as JSON for other protocols. */
const RESPONSE: TextPlaces = { alone: true, texts: ["output", "result", "content", "error"] };

const PART: TextPlaces = {
  keys: new Set(["text", "functionResponse"]),
  texts: ["text"],
  within: { functionResponse: { keys: new Set(["id", "name", "response"]), within: { response: RESPONSE } } },
};

const CONTENT: TextPlaces = { keys: new Set(["role", "parts"]), within: { parts: PART } };

const TOOL: TextPlaces = { within: { functionDeclarations: { texts: ["description"] } } };

/** The descriptions of functions, the texts of parts without signatures, and results that are texts. */
export const textPlaces: TextPlaces = { within: { tools: TOOL, contents: CONTENT, systemInstruction: CONTENT } };
