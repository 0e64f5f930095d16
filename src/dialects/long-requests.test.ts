import { describe, expect, test } from "bun:test";
import { TARGETS } from "../../testing/translate-sample.ts";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { arrayAt, type JsonObject, stringAt } from "../base/json.ts";
import type { CanonCall } from "../canon/call.ts";
import { type DialectName, UPSTREAM_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "./chat/quirks.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";

/**
 * Requests of half a megabyte or more, made of very many small items. Searching all items for each one would take seconds to
 * minutes and block other requests; otherwise it takes a fraction of a second.
 */
const MAX_MS = 1_500;

const many = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const user = { role: "user", content: "x" };
const chat = (body: JsonObject): JsonObject => ({ model: "acme/one", messages: [user], ...body });
const call = (index: number) => ({ id: `c${index}`, type: "function", function: { name: "f", arguments: "{}" } });

const annotation = (index: number) => ({
  type: "url_citation",
  url_citation: { url: `https://pages.example/${index}`, title: "t", start_index: 0, end_index: 1 },
});

const partOfSchema = (index: number) => ({
  properties: { [`k${index}`]: { type: "string" } },
  required: [`k${index}`],
});

const CALLS = 15_000;
const LONG: Readonly<Record<string, [DialectName, JsonObject]>> = {
  "unknown fields": ["chat", chat(Object.fromEntries(many(50_000, (index) => [`f${index}`, 1])))],
  "results in the reverse order of their calls": [
    "chat",
    chat({
      messages: [
        user,
        { role: "assistant", content: null, tool_calls: many(CALLS, call) },
        ...many(CALLS, (index) => ({ role: "tool", tool_call_id: `c${CALLS - 1 - index}`, content: "x" })),
      ],
    }),
  ],
  "calls of one id, and their results": [
    "chat",
    chat({
      messages: [
        user,
        { role: "assistant", content: null, tool_calls: many(CALLS, () => call(0)) },
        ...many(CALLS, () => ({ role: "tool", tool_call_id: "c0", content: "x" })),
      ],
    }),
  ],
  "citations of one text": [
    "chat",
    chat({
      messages: [{ role: "assistant", content: "cited", annotations: many(25_000, annotation) }, user],
    }),
  ],
  "words of both sides in turn": [
    "chat",
    chat({ messages: many(40_000, (index) => ({ role: index % 2 ? "assistant" : "user", content: "x" })) }),
  ],
  "answers in many pieces": [
    "genai",
    {
      contents: [
        { role: "user", parts: [{ text: "x" }] },
        ...many(40_000, () => ({ role: "model", parts: [{ text: "x" }] })),
      ],
    },
  ],
  "results of functions of one name": [
    "genai",
    {
      contents: [
        { role: "model", parts: many(CALLS, () => ({ functionCall: { name: "f", args: {} } })) },
        { role: "user", parts: many(CALLS, () => ({ functionResponse: { name: "f", response: { a: 1 } } })) },
      ],
    },
  ],
  "names of allowed functions": [
    "genai",
    {
      contents: [{ role: "user", parts: [{ text: "x" }] }],
      tools: [{ functionDeclarations: many(30_000, (index) => ({ name: `f${index}` })) }],
      toolConfig: {
        functionCallingConfig: { mode: "ANY", allowedFunctionNames: many(30_000, (index) => `f${29_999 - index}`) },
      },
    },
  ],
  "a schema of many parts that hold together": [
    "chat",
    chat({
      tools: [
        {
          type: "function",
          function: { name: "f", parameters: { type: "object", allOf: many(15_000, partOfSchema) } },
        },
      ],
    }),
  ],
  "documents of one name": [
    "chat",
    chat({
      messages: [
        {
          role: "user",
          content: many(4_000, () => ({ type: "file", file: { filename: "a.pdf", file_data: "AAAA" } })),
        },
      ],
    }),
  ],
};

describe.each(Object.entries(LONG))("H20, H21: %s", (_, [dialect, body]) => {
  let read: { canonical: CanonCall; tookMs: number } | undefined;
  /** Decoded once, since the result is the same for every host. */
  const decode = () => {
    const startedMs = cpuMs();
    const canonical = DIALECTS[dialect].codec.decodeRequest(body);
    return { canonical, tookMs: cpuMs() - startedMs };
  };

  test.each(UPSTREAM_DIALECT_NAMES)("are encoded quickly for a host of %s", (target) => {
    read ??= decode();
    const { canonical, tookMs } = read;
    const startedMs = cpuMs();
    const { context } = TARGETS[target];
    const quirks = { ...context.quirks, jsonSchema: false };
    UPSTREAM_CODECS[target].encodeRequest(canonical, { ...context, quirks });
    expect(tookMs + cpuMs() - startedMs).toBeLessThan(MAX_MS);
  });
});

describe("H20, H21: natively", () => {
  const prepare = (body: JsonObject, changes: Partial<ChatQuirks>) => {
    const startedMs = cpuMs();
    const { payload } = DIALECTS.chat.native.prepareRequest(
      { text: JSON.stringify(body), body },
      {
        upstreamModel: "m",
        stream: false,
        door: "dropin",
        maxOutputTokens: undefined,
        reasons: true,
        quirks: { ...DEFAULT_CHAT_QUIRKS, ...changes },
        knownEfforts: undefined,
      },
    );
    expect(cpuMs() - startedMs).toBeLessThan(MAX_MS);
    return JSON.parse(String(payload)) as { messages: JsonObject[] };
  };

  test("reasoning is removed from a long history quickly", () => {
    const messages = many(8_000, () => ({ role: "assistant", content: "x", reasoning: "y", reasoning_content: "y" }));
    const sent = prepare(chat({ messages }), {});
    expect(sent.messages).toEqual(many(8_000, () => ({ role: "assistant", content: "x" })));
  });

  test("the ids of many calls and their results are adjusted quickly", () => {
    const count = 6_000;
    const sent = prepare(
      chat({
        messages: [
          { role: "assistant", content: null, reasoning: "y", tool_calls: many(count, call) },
          ...many(count, (index) => ({ role: "tool", tool_call_id: `c${index}`, content: "x" })),
        ],
      }),
      { toolId: { pattern: /^[a-zA-Z0-9]{9}$/, make: (seed) => seed.slice(-9).padStart(9, "0") } },
    );
    const [answer, ...results] = sent.messages;
    expect(Object.keys(answer ?? {})).toEqual(["role", "content", "tool_calls"]);
    const ids = arrayAt(answer, "tool_calls").map((one) => stringAt(one, "id") ?? "");
    expect(ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))).toBe(true);
    expect(results.map((result) => stringAt(result, "tool_call_id") ?? "")).toEqual(ids);
  });
});
