import { type JsonObject, numberAt } from "../../base/json.ts";
import type { TokenCounting } from "../codec.ts";

/** Fields that only shape the response are not part of the prompt, and the counter rejects them. */
const PROMPT = ["model", "system", "messages", "tools", "tool_choice", "thinking"];

export const counting: TokenCounting = {
  encodeRequest: (body): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key))),
  decodeAnswer: (body) => numberAt(body, "input_tokens"),
};
