import { type JsonObject, numberAt } from "../../base/json.ts";
import type { TokenCounting } from "../codec.ts";

/** Fields that are part of the prompt. The counter rejects those that affect only the response. */
const PROMPT = ["model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text"];

export const counting: TokenCounting = {
  encodeRequest: (body): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key))),
  decodeAnswer: (body) => numberAt(body, "input_tokens"),
};
