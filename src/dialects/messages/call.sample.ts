import { expect } from "bun:test";
import type { JsonObject } from "../../base/json.ts";
import type { CanonCall, Turn } from "../../canon/call.ts";
import type { Part } from "../../canon/part.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import { FIELD_NAMES as CHAT_NAMES } from "../chat/request/field-names.ts";
import { FIELD_NAMES as GENAI_NAMES } from "../genai/request/field-names.ts";
import { DEFAULT_MESSAGES_QUIRKS, type MessagesQuirks } from "./quirks.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** Parts of calls from other dialects, for tests of how they are encoded for an upstream. */
export const user = (...parts: Part[]): Turn => ({ role: "user", parts, path: "messages[0]" });
export const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts, path: "messages[1]" });
export const say = (text: string, path = "messages[0].content"): Part => ({ type: "text", text, path });
export const callOf = (id: string, input = "{}"): Part => ({
  type: "tool-call",
  id,
  name: "f",
  input,
  path: `calls.${id}`,
});
export const resultOf = (callId: string, text = "ok"): Part => ({
  type: "tool-result",
  callId,
  content: [{ type: "text", text }],
  path: `results.${callId}`,
});
export const TOOL = {
  type: "function",
  name: "f",
  schema: { type: "object", properties: {} },
  path: "tools[0]",
} as const;

/** The catalogue has no output limit for the model. */
export const UNLIMITED = { maxOutputTokens: undefined } as unknown as Partial<ModelTraits>;

export function encode(
  call: Partial<CanonCall>,
  traits: Partial<ModelTraits> = {},
  quirks: Partial<MessagesQuirks> = {},
) {
  const whole: CanonCall = {
    dialect: "chat",
    fieldNames: call.dialect === "genai" ? GENAI_NAMES : CHAT_NAMES,
    system: [],
    turns: [user(say("hi"))],
    tools: [],
    paths: {},
    extras: [],
    ...call,
  };
  const before = JSON.stringify(whole);
  const result = encodeRequest(whole, {
    upstreamModel: "up",
    stream: false,
    traits: { reasoning: true, maxOutputTokens: 64000, ...traits },
    quirks: { ...DEFAULT_MESSAGES_QUIRKS, ...quirks },
    origin: "messages",
  });
  // Law 8.
  expect(JSON.stringify(whole)).toBe(before);
  return { ...result, notes: result.notes.map(({ path, action }) => `${action} ${path}`) };
}

export const messagesOf = ({ body }: { body: JsonObject }) =>
  body["messages"] as { role: string; content: JsonObject[] }[];
