import { type JsonObject, numberAt } from "../../base/json.ts";
import type { TokenCounting } from "../codec.ts";
import type { GenaiQuirks } from "./quirks.ts";

const PROMPT = ["systemInstruction", "contents", "tools"];

export const counting: TokenCounting = {
  encodeRequest: (body, upstreamModel, quirks: GenaiQuirks): JsonObject => {
    const prompt = Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key)));
    return quirks.countsWholeRequest
      ? { generateContentRequest: { model: `models/${upstreamModel}`, ...prompt } }
      : prompt;
  },
  decodeAnswer: (body) => numberAt(body, "totalTokens"),
};
