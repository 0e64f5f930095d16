import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../base/json.ts";
import { outlineJson } from "../../wire/long-texts.ts";
import { chat } from "../chat/index.ts";
import type { Dialect } from "../dialect.ts";
import { genai } from "../genai/index.ts";
import { messages } from "../messages/index.ts";
import { conversationOf } from "./conversation-of.ts";

const found = ({ requests }: Dialect, body: JsonObject, scope = "default acme/model") =>
  conversationOf(body, requests.conversation, scope);
const keyOf = (...given: Parameters<typeof found>) => found(...given).key;

const LONG = "x".repeat(5000);

/** The first and second request of a conversation, and first requests of others. */
const CASES: [Dialect, first: JsonObject, second: JsonObject, others: JsonObject[]][] = [
  [
    chat,
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Why?" },
      ],
      tools: [{ type: "function", function: { name: "look" } }],
    },
    {
      temperature: 1,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Why?" },
        { role: "assistant", content: "Because." },
        { role: "user", content: "And how?" },
      ],
      tools: [{ type: "function", function: { name: "look" } }],
    },
    [
      { messages: [{ role: "user", content: "Why?" }], tools: [{ type: "function", function: { name: "look" } }] },
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Why?" },
        ],
      },
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Where?" },
        ],
        tools: [{ type: "function", function: { name: "look" } }],
      },
    ],
  ],
  [
    messages,
    {
      system: [{ type: "text", text: LONG }],
      messages: [{ role: "user", content: [{ type: "text", text: `${LONG}1` }] }],
    },
    {
      system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ cache_control: { type: "ephemeral" }, type: "text", text: `${LONG}1` }] },
        { role: "assistant", content: "Yes." },
      ],
    },
    [
      { system: LONG, messages: [{ role: "user", content: `${LONG}2` }] },
      { system: `y${LONG}`, messages: [{ role: "user", content: [{ type: "text", text: `${LONG}1` }] }] },
      {
        system: [{ type: "text", text: LONG }],
        messages: [{ role: "user", content: [{ type: "text", text: `${LONG}x1` }] }],
      },
    ],
  ],
  [
    genai,
    { systemInstruction: { parts: [{ text: "Be brief." }] }, contents: [{ role: "user", parts: [{ text: "Why?" }] }] },
    {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "Why?" }] },
        { role: "model", parts: [{ text: "Because." }] },
      ],
    },
    [
      { contents: [{ role: "user", parts: [{ text: "Why?" }] }] },
      {
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [{ role: "user", parts: [{ text: "How?" }] }],
      },
      {
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [{ role: "user", parts: [{ text: "Why?" }] }],
        tools: [{ functionDeclarations: [{ name: "look" }] }],
      },
    ],
  ],
];

describe("the key of a conversation", () => {
  test.each(CASES.map((one) => [one[0].name, one] as const))(
    "%s: is the same for its next request and differs for other conversations",
    (_, one) => {
      const [dialect, first, second, others] = one;
      const key = keyOf(dialect, first);
      expect(keyOf(dialect, second)).toBe(key);
      expect([found(dialect, first).continues, found(dialect, second).continues]).toEqual([false, true]);
      const keys = others.map((other) => keyOf(dialect, other));
      expect(new Set([key, ...keys]).size).toBe(1 + others.length);
    },
  );

  test("depends on the project and the model", () => {
    const [, body] = CASES[0] ?? [];
    if (body === undefined) throw new Error("there is a first case");
    expect(keyOf(chat, body, "default acme/other")).not.toBe(keyOf(chat, body));
  });

  test("covers instructions among the turns, and the size of the prompt, up to a limit", () => {
    const turn = (role: string, content: string) => ({ role, content });
    const begin = Array.from({ length: 7 }, (_, index) => turn("developer", `${index}`));
    const asked = (content: string, extra: object[] = []) =>
      keyOf(chat, { messages: [...begin, ...extra, turn("user", content)] });
    expect(asked("a")).not.toBe(asked("b"));
    expect(asked("a", [turn("developer", "8")])).toBe(asked("b", [turn("developer", "8")]));
    const large = (last: string) => ({
      messages: [turn("user", "x")].map(() => ({
        role: "user",
        content: [...Array.from({ length: 300 }, () => "p"), last],
      })),
    });
    expect(keyOf(chat, large("a"))).toBe(keyOf(chat, large("b")));
  });

  test("covers turns that are not a list as a whole, and accepts missing ones", () => {
    expect(keyOf(chat, { messages: "a" })).not.toBe(keyOf(chat, { messages: "b" }));
    expect(keyOf(genai, {})).toBe(keyOf(genai, { contents: [] }));
  });
});

test("the texts of an outline identify a conversation as they are", () => {
  const body = { messages: [{ role: "user", content: `Why? ${LONG}` }] };
  const outline = outlineJson(Buffer.from(JSON.stringify(body)));
  const outlined = JSON.parse(outline?.text ?? "{}") as JsonObject;
  const { conversation } = chat.requests;
  expect(JSON.stringify(outlined)).not.toContain(LONG);
  expect(conversationOf(outlined, conversation, "scope", outline?.texts)).toEqual(
    conversationOf(body, conversation, "scope"),
  );
});
