import { describe, expect, test } from "bun:test";
import { TARGETS, translate } from "../../../testing/translate-sample.ts";
import type { JsonObject } from "../../base/json.ts";
import type { UpstreamDialectName } from "../../canon/dialect-name.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** A host and a model that accept explicit breakpoints. */
function takingMarks(dialect: "chat" | "responses") {
  const { context, ...target } = TARGETS[dialect];
  const quirks = { ...context.quirks, cacheBreakpoints: true };
  return { ...target, context: { ...context, quirks, traits: { ...context.traits, cacheBreakpoints: true } } };
}

const at = (name: UpstreamDialectName) => (name === "chat" || name === "responses" ? takingMarks(name) : TARGETS[name]);
const told = (notes: readonly FieldNote[]) => notes.map(({ path, action }) => `${path} ${action}`);

const MARK = { mode: "explicit" };
const EPHEMERAL = { type: "ephemeral" };

const messagesBody = (ttl?: "5m" | "1h"): JsonObject => {
  const cache_control = { ...EPHEMERAL, ...(ttl === undefined ? {} : { ttl }) };
  return {
    model: "m",
    max_tokens: 100,
    system: [{ type: "text", text: "You are a clerk.", cache_control }],
    messages: [
      { role: "user", content: [{ type: "text", text: "What is in the file?" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "A list.", cache_control }] },
      { role: "assistant", content: [{ type: "text", text: "A list." }] },
      { role: "user", content: [{ type: "text", text: "How long is it?", cache_control }] },
    ],
  };
};

describe("H04: cache_control is sent to models that accept breakpoints", () => {
  test("in Responses, on system text, a tool result and user text", async () => {
    const { body, notes } = await translate("messages", messagesBody("5m"), at("responses"));
    const text = (words: string) => ({ type: "input_text", text: words, prompt_cache_breakpoint: MARK });
    expect(body["instructions"]).toBeUndefined();
    expect(body["input"]).toEqual([
      { type: "message", role: "system", content: [text("You are a clerk.")] },
      { type: "message", role: "user", content: "What is in the file?" },
      { type: "function_call", call_id: "toolu_1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "toolu_1", output: [text("A list.")] },
      { type: "message", role: "assistant", content: "A list." },
      { type: "message", role: "user", content: [text("How long is it?")] },
    ]);
    expect(told(notes)).toEqual([]);
  });

  test("in chat completions", async () => {
    const { body, notes } = await translate("messages", messagesBody(), at("chat"));
    const text = (words: string) => ({ type: "text", text: words, prompt_cache_breakpoint: MARK });
    expect(body["messages"]).toMatchObject([
      { role: "system", content: [text("You are a clerk.")] },
      { role: "user", content: "What is in the file?" },
      { role: "assistant" },
      { role: "tool", content: [text("A list.")] },
      { role: "assistant", content: "A list." },
      { role: "user", content: [text("How long is it?")] },
    ]);
    expect(told(notes)).toEqual([]);
  });

  test("an hour is approximated, with a note in the receipt", async () => {
    for (const name of ["chat", "responses"] as const) {
      const { body, notes } = await translate("messages", messagesBody("1h"), at(name));
      expect(JSON.stringify(body).match(/"prompt_cache_breakpoint":\{"mode":"explicit","ttl":"30m"\}/g)).toHaveLength(
        3,
      );
      expect(told(notes).toSorted()).toEqual([
        "messages[2].content[0].cache_control approximated",
        "messages[4].content[0].cache_control approximated",
        "system[0].cache_control approximated",
      ]);
    }
  });

  test("a cache mark for the whole request becomes the implicit cache", async () => {
    const automatic = {
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "hi" }],
      cache_control: EPHEMERAL,
    };
    for (const name of ["chat", "responses"] as const) {
      const { body } = await translate("messages", automatic, at(name));
      expect(body["prompt_cache_options"]).toEqual({ mode: "implicit" });
    }
  });

  test("models without breakpoints get none: on a host that caches automatically only the age is lost", async () => {
    for (const name of ["chat", "responses"] as const) {
      const { body, notes } = await translate("messages", messagesBody(), TARGETS[name]);
      expect([JSON.stringify(body).includes("prompt_cache"), told(notes)]).toEqual([false, []]);
    }
  });
});

describe("H04: breakpoints become cache_control and cachePoint", () => {
  const asked = (client: "chat" | "responses", ttl?: string, options?: object): JsonObject => {
    const prompt_cache_breakpoint = { ...MARK, ...(ttl === undefined ? {} : { ttl }) };
    const more = options === undefined ? {} : { prompt_cache_options: options };
    if (client === "chat") {
      const content = [
        { type: "text", text: "A long text.", prompt_cache_breakpoint },
        { type: "text", text: "And?" },
      ];
      return { model: "m", messages: [{ role: "user", content }], ...more };
    }
    const content = [
      { type: "input_text", text: "A long text.", prompt_cache_breakpoint },
      { type: "input_text", text: "And?" },
    ];
    return { model: "m", input: [{ role: "user", content }], ...more };
  };
  const pathOf = { chat: "messages[0].content[0]", responses: "input[0].content[0]" };

  test.each(["chat", "responses"] as const)("%s: encodes a mark without an age", async (client) => {
    const messages = await translate(client, asked(client), at("messages"));
    const [text, rest] = (messages.body["messages"] as { content: JsonObject[] }[])[0]?.content ?? [];
    expect([text?.["cache_control"], rest?.["cache_control"], messages.notes]).toEqual([EPHEMERAL, undefined, []]);
    const converse = await translate(client, asked(client), at("converse"));
    expect(converse.body["messages"]).toEqual([
      { role: "user", content: [{ text: "A long text." }, { cachePoint: { type: "default" } }, { text: "And?" }] },
    ]);
  });

  test.each(["chat", "responses"] as const)("%s: uses the mark's age, or that of the whole request", async (client) => {
    for (const body of [asked(client, "12h"), asked(client, undefined, { mode: "explicit", ttl: "30m" })]) {
      const { body: sent, notes } = await translate(client, body, at("messages"));
      expect(JSON.stringify(sent)).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
      expect(sent["cache_control"]).toBeUndefined();
      expect(told(notes)).toEqual([`${pathOf[client]}.prompt_cache_breakpoint approximated`]);
      const converse = await translate(client, body, at("converse"));
      expect(JSON.stringify(converse.body)).toContain('{"cachePoint":{"type":"default","ttl":"1h"}}');
    }
  });

  test.each(["chat", "responses"] as const)(
    "%s: the implicit cache becomes a mark for the whole request",
    async (client) => {
      const { body } = await translate(client, asked(client, undefined, { mode: "implicit" }), at("messages"));
      expect(body["cache_control"]).toEqual(EPHEMERAL);
    },
  );

  /** Anthropic answers 400 if a ttl of an hour comes after one of five minutes, wherever they are. */
  test.each(["chat", "responses"] as const)("%s: no mark of an hour follows one of five minutes", async (client) => {
    const mark = (ttl?: string) => ({ prompt_cache_breakpoint: { ...MARK, ...(ttl === undefined ? {} : { ttl }) } });
    const bodies = {
      chat: {
        model: "m",
        messages: [
          { role: "system", content: [{ type: "text", text: "Be brief.", ...mark() }] },
          { role: "user", content: "Go." },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "done", ...mark("12h") }] },
        ],
      },
      responses: {
        model: "m",
        input: [
          { role: "system", content: [{ type: "input_text", text: "Be brief.", ...mark() }] },
          { role: "user", content: "Go." },
          { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
          {
            type: "function_call_output",
            call_id: "call_1",
            output: [{ type: "input_text", text: "done", ...mark("12h") }],
          },
        ],
      },
    };
    const place = client === "chat" ? "messages[3].content[0]" : "input[3].output[0]";
    const marksOf = (sent: JsonObject): string[] => [
      ...(JSON.stringify(sent).match(/"(?:cache_control|cachePoint)":\{[^}]*\}/g) ?? []),
    ];
    const messages = await translate(client, bodies[client], at("messages"));
    const ephemeral = '"cache_control":{"type":"ephemeral"}';
    expect(marksOf(messages.body)).toEqual([ephemeral, ephemeral]);
    const converse = await translate(client, bodies[client], at("converse"));
    const point = '"cachePoint":{"type":"default"}';
    expect(marksOf(converse.body)).toEqual([point, point]);
    for (const { notes } of [messages, converse]) {
      expect(told(notes)).toContain(`${place}.prompt_cache_breakpoint approximated`);
    }
  });

  test("the two dialects of one family pass marks and options to each other", async () => {
    const options = { mode: "explicit", ttl: "30m" };
    const chat = await translate("responses", asked("responses", "12h", options), at("chat"));
    expect(chat.body["prompt_cache_options"]).toEqual(options);
    expect(chat.body["messages"]).toEqual(asked("chat", "12h")["messages"]);
    const responses = await translate("chat", asked("chat", "12h", options), at("responses"));
    expect(responses.body["prompt_cache_options"]).toEqual(options);
    expect(responses.body["input"]).toMatchObject(asked("responses", "12h")["input"] as object);
    expect([chat.notes, responses.notes]).toEqual([[], []]);
  });

  test("unknown kinds of marks are kept for their own dialect and noted elsewhere", async () => {
    const body = {
      model: "m",
      input: [
        { role: "user", content: [{ type: "input_text", text: "A", prompt_cache_breakpoint: { mode: "fuzzy" } }] },
      ],
    };
    expect((await translate("responses", body, TARGETS.responses)).body["input"]).toMatchObject(body.input);
    const { notes } = await translate("responses", body, at("messages"));
    expect(told(notes)).toEqual(["input[0].content[0].prompt_cache_breakpoint dropped"]);
  });
});
