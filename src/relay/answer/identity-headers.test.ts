import { expect, test } from "bun:test";
import { chat } from "../../dialects/chat/index.ts";
import { genai } from "../../dialects/genai/index.ts";
import { messages } from "../../dialects/messages/index.ts";
import { identifiedResponse, identityHeaders, isIdentified } from "./identity-headers.ts";

test("every answer names its request, also by the name that the clients of its protocol look for", () => {
  const ours = { "x-trivium-request-id": "req_1" };
  expect(identityHeaders(chat, "req_1")).toEqual({ ...ours, "x-request-id": "req_1" });
  expect(identityHeaders(messages, "req_1")).toEqual({ ...ours, "request-id": "req_1" });
  expect(identityHeaders(genai, "req_1")).toEqual(ours);
});

test("an answer that was made with them is known, any other is not", () => {
  expect(isIdentified(identifiedResponse("{}", {}))).toBe(true);
  expect(isIdentified(new Response("{}"))).toBe(false);
});
