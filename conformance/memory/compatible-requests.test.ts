import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

/** Requests that vendors and hosts accept, but the contract does not list (decision 0092). */

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const offer = { provider: "up-chat", model: "newest" };
  harness = await Harness.start({
    config: {
      ...config,
      models: [
        ...models,
        { ...models[0], id: "test/newest", offers: [{ ...offer, tools_dialect: "responses" }] },
        { ...models[0], id: "test/named", offers: [{ ...offer, dialect: "chat", tools_dialect: "responses" }] },
      ],
    },
  });
});

const answered = (url: string): DialectName =>
  url.includes("/responses")
    ? "responses"
    : url.includes("/messages")
      ? "messages"
      : url.includes(":") && url.includes("Content")
        ? "genai"
        : "chat";

interface Sent {
  status: number;
  text: string;
  url: string;
  body: JsonObject;
  headers: Readonly<Record<string, string>>;
  fields: string[];
  dialect: { client: string; upstream: string };
}

/** Sends a call to an upstream that answers in its own dialect; returns the forwarded body and the receipt. */
async function sent(client: DialectName, options: CallOptions): Promise<Sent> {
  harness.upstream.play(async (reply, request) => {
    const dialect = answered(request.url);
    const usage = plainUsage(dialect, 5, 2);
    const script = options.stream
      ? harness.upstream.stream(plainStream(dialect, ["It is ", "sunny."], usage))
      : harness.upstream.json(plainAnswer(dialect, { text: "It is sunny.", usage }));
    await script(reply, request);
  });
  const answer = await harness.call(client, { door: "dropin", ...options });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  const { fields, dialect } = await harness.receipt(answer);
  const [request] = harness.upstream.requests;
  return {
    status: answer.status,
    text: answer.text,
    url: request?.url ?? "",
    body: JSON.parse(request?.body ?? "{}") as JsonObject,
    headers: request?.headers ?? {},
    fields: fields.map(({ path, action }) => `${path} ${action}`),
    dialect,
  };
}

async function refused(client: DialectName, options: CallOptions): Promise<{ status: number; text: string }> {
  harness.upstream.play();
  const { status, text } = await harness.call(client, { door: "dropin", ...options });
  expect(harness.upstream.requests).toHaveLength(0);
  return { status, text };
}

const WEATHER = { name: "weather", parameters: { type: "object", properties: {} } };
const FUNCTION = { type: "function", function: WEATHER };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("decision 0092: calls with tools use the dialect in which the model accepts them", () => {
  test.each([false, true])("a chat client's call with tools goes to Responses (stream: %p)", async (stream) => {
    const { url, body, text, dialect } = await sent("chat", {
      model: "test/newest",
      stream,
      body: { tools: [FUNCTION] },
    });
    expect(url).toBe(`${UPSTREAM_URL}/v1/responses`);
    expect(body["tools"]).toMatchObject([{ type: "function", name: "weather" }]);
    expect(dialect).toEqual({ client: "chat", upstream: "responses" });
    expect(text).toContain(stream ? "sunny." : "It is sunny.");
  });

  test.each([{}, { tools: [] }, { tools: null }])("its call without tools is unchanged: %j", async (body) => {
    const { url, dialect } = await sent("chat", { model: "test/newest", body });
    expect(url).toBe(`${UPSTREAM_URL}/v1/chat/completions`);
    expect(dialect).toEqual({ client: "chat", upstream: "chat" });
  });

  test("so do clients of other protocols, beyond the dialect that the offer names", async () => {
    const tools = [{ name: "weather", input_schema: { type: "object" } }];
    const { dialect } = await sent("messages", { model: "test/named", body: { tools } });
    expect(dialect).toEqual({ client: "messages", upstream: "responses" });
    expect((await sent("messages", { model: "test/named" })).dialect.upstream).toBe("chat");
    expect((await sent("responses", { model: "test/named" })).dialect.upstream).toBe("chat");
  });

  test("functions of the older form go where the model accepts tools", async () => {
    const { url, body, fields } = await sent("chat", {
      model: "test/newest",
      body: { functions: [WEATHER], function_call: { name: "weather" } },
    });
    expect(url).toBe(`${UPSTREAM_URL}/v1/responses`);
    expect(body).toMatchObject({
      tools: [{ type: "function", name: "weather" }],
      tool_choice: { type: "function", name: "weather" },
      parallel_tool_calls: false,
    });
    // The scripted answer names another model (H62).
    expect(fields).toEqual(["model approximated"]);
    expect((await sent("chat", { model: "test/newest", body: { functions: [] } })).dialect.upstream).toBe("chat");
  });

  test("an offer without the setting keeps its native lane", async () => {
    const { url } = await sent("chat", { model: "test/chat", body: { tools: [FUNCTION] } });
    expect(url).toBe(`${UPSTREAM_URL}/v1/chat/completions`);
  });
});

describe("functions of the older form of chat completions, at hosts of other protocols", () => {
  const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: { city: "Lisbon" } });
  const answer = (...content: object[]) => ({
    ...plainAnswer("messages", { text: "", usage: plainUsage("messages", 5, 2) }),
    content,
    stop_reason: "tool_use",
  });
  const stream = (...content: object[]) =>
    [
      wire.messageStart(),
      ...content.map((content_block, index) =>
        [
          { type: "content_block_start", index, content_block: { ...content_block, input: {} } },
          {
            type: "content_block_delta",
            index,
            delta: { type: "input_json_delta", partial_json: '{"city":"Lisbon"}' },
          },
          { type: "content_block_stop", index },
        ]
          .map(wire.event)
          .join(""),
      ),
      wire.event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } }),
      wire.event({ type: "message_stop" }),
    ].join("");

  /** The only message or the joined deltas of a response, and the receipt's notes. */
  async function called(streamed: boolean, body: JsonObject, ...content: object[]) {
    const { upstream } = harness;
    upstream.play(streamed ? upstream.stream(stream(...content)) : upstream.json(answer(...content)));
    const reply = await harness.call("chat", { door: "dropin", model: "test/messages", stream: streamed, body });
    expect(reply.status).toBe(200);
    const { fields } = await harness.receipt(reply);
    const chunks = streamed
      ? [...reply.text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as JsonObject)
      : [JSON.parse(reply.text) as JsonObject];
    const choices = chunks.flatMap(({ choices }) => choices as { finish_reason: string | null }[]);
    const said = choices.map((choice) => ("delta" in choice ? choice.delta : Object(choice).message) as JsonObject);
    const calls = said.flatMap(({ function_call: call }) =>
      call ? [call as { name?: string; arguments: string }] : [],
    );
    return {
      name: calls.map(({ name }) => name ?? "").join(""),
      arguments: calls.map((call) => call.arguments).join(""),
      newer: said.filter((delta) => "tool_calls" in delta).length,
      finish: choices.at(-1)?.finish_reason,
      notes: fields.map(({ path, action }) => `${path} ${action}`),
    };
  }

  test.each([false, true])("their client gets the call in that form (stream: %p)", async (streamed) => {
    const body = { functions: [WEATHER], function_call: "auto" };
    expect(await called(streamed, body, use("toolu_1", "weather"))).toEqual({
      name: "weather",
      arguments: '{"city":"Lisbon"}',
      newer: 0,
      finish: "function_call",
      notes: [],
    });
  });

  test.each([false, true])("the form has one call: another one is noted (stream: %p)", async (streamed) => {
    const calls = [use("toolu_1", "weather"), use("toolu_2", "other")];
    expect(await called(streamed, { functions: [WEATHER] }, ...calls)).toMatchObject({
      name: "weather",
      arguments: '{"city":"Lisbon"}',
      notes: ["answer.content dropped"],
    });
  });

  test.each([false, true])("next to tools of the newer form, the newer form applies (stream: %p)", async (streamed) => {
    const body = { functions: [WEATHER], tools: [FUNCTION] };
    const { name, newer, finish } = await called(streamed, body, use("toolu_1", "weather"));
    expect([name, newer > 0, finish]).toEqual(["", true, "tool_calls"]);
  });
});

describe("short forms of chat completions", () => {
  test("null next to a part's own member means absent, at both base URLs (decision 0026)", async () => {
    const parts = [
      { type: "text", text: "hi", image_url: null, input_audio: null, file: null },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` }, text: null },
    ];
    for (const door of ["contract", "dropin"] as const) {
      const messages = [{ role: "user", content: parts, tool_calls: null, name: null }];
      const { status, body } = await sent("chat", { door, body: { messages } });
      expect(status).toBe(200);
      expect(body["messages"]).toMatchObject([{ role: "user", content: [{ text: "hi" }, { type: "image_url" }] }]);
      expect((await sent("chat", { door, model: "test/messages", body: { messages } })).body["messages"]).toMatchObject(
        [{ content: [{ type: "text", text: "hi" }, { type: "image" }] }],
      );
    }
  });

  test.each(["chat", "responses"] as const)(
    "%s: a tool without its type is a function, and any means required",
    async (client) => {
      const tool = client === "chat" ? { function: WEATHER } : WEATHER;
      const { body } = await sent(client, { body: { tools: [tool], tool_choice: "any" } });
      expect(body).toMatchObject({ tools: [{ type: "function" }], tool_choice: "required" });
      const translated = await sent(client, { model: "test/messages", body: { tools: [tool], tool_choice: "any" } });
      expect(translated.body).toMatchObject({ tools: [{ name: "weather" }], tool_choice: { type: "any" } });
      if (client === "chat")
        expect((await refused(client, { door: "contract", body: { tools: [tool] } })).status).toBe(400);
    },
  );

  test("decision 0092: a call without its type in the history is a function call", async () => {
    const called = { id: "call_1", function: { name: "weather", arguments: "{}" } };
    const messages = [
      { role: "user", content: [{ type: "text", text: "Go." }] },
      { role: "assistant", content: null, tool_calls: [called, { ...called, id: "call_2", type: null }] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
      { role: "tool", tool_call_id: "call_2", content: "done" },
    ];
    const body = { tools: [{ function: WEATHER }], messages };
    const native = await sent("chat", { body });
    const typed = { ...called, type: "function" };
    expect(native.body["messages"]).toEqual(
      messages.with(1, { ...messages[1], tool_calls: [typed, { ...typed, id: "call_2" }] } as never),
    );
    for (const host of ["messages", "genai", "responses"] as const) {
      const translated = await sent("chat", { model: `test/${host}`, body });
      const named = JSON.stringify(translated.body).match(/"(?:tool_use|functionCall|function_call)"/g);
      expect([named?.length, translated.fields]).toEqual([2, []]);
    }
    expect((await refused("chat", { door: "contract", body: { messages } })).status).toBe(400);
  });

  test("an image URL may be a plain string", async () => {
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: "https://images.test/cat.png" }] }];
    const image = { type: "image_url", image_url: { url: "https://images.test/cat.png" } };
    expect((await sent("chat", { body: { messages } })).body["messages"]).toEqual([{ role: "user", content: [image] }]);
    expect((await refused("chat", { door: "contract", body: { messages } })).text).toContain(
      "messages[0].content[0].image_url",
    );
  });

  test.each([
    ["chat", (schema: object) => ({ response_format: { type: "json_schema", json_schema: { schema } } })],
    ["responses", (schema: object) => ({ text: { format: { type: "json_schema", schema } } })],
  ] as const)("%s: a schema without a name gets one", async (client, bodyOf) => {
    const body = bodyOf({ type: "object", properties: {} });
    const upstream = JSON.stringify((await sent(client, { body })).body);
    expect(upstream).toContain('"name":"answer"');
    if (client === "chat") {
      const { status, text } = await refused(client, { door: "contract", body });
      expect([status, text]).toEqual([400, expect.stringContaining("response_format.json_schema.name")]);
    }
  });

  test("H53: an image in a tool message is forwarded natively, and carried or moved next to the result elsewhere", async () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
    const messages = [
      { role: "user", content: "Take a screenshot." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "shot", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "done" }, image] },
    ];
    expect((await sent("chat", { body: { messages } })).body["messages"]).toEqual(messages);
    const { body } = await sent("chat", { model: "test/messages", body: { messages } });
    expect(JSON.stringify(body)).toContain('{"type":"image","source":{"type":"base64","media_type":"image/png"');
    expect((await refused("chat", { door: "contract", body: { messages } })).status).toBe(400);
  });
});

describe("efforts", () => {
  test.each(["none", "xhigh", "galactic"])(
    "decision 0092: reasoning.effort %s is forwarded natively",
    async (effort) => {
      const { body, fields } = await sent("chat", { body: { reasoning: { effort } } });
      expect(body["reasoning_effort"]).toBe(effort);
      expect(fields).toEqual([]);
      expect((await sent("responses", { body: { reasoning: { effort } } })).body["reasoning"]).toMatchObject({
        effort,
      });
      const { status } = await refused("chat", { door: "contract", body: { reasoning: { effort } } });
      expect(status).toBe(400);
    },
  );

  test("decision 0092: an unknown effort is noted where it cannot be sent", async () => {
    const translated = await sent("chat", { model: "test/messages", body: { reasoning: { effort: "galactic" } } });
    expect(translated.fields).toContain("reasoning.effort dropped");
    const plain = await sent("chat", { model: "test/messages", body: { reasoning_effort: "galactic" } });
    expect(plain.fields).toContain("reasoning_effort dropped");
    const level = { generationConfig: { thinkingConfig: { thinkingLevel: "GALACTIC" } } };
    expect((await sent("genai", { body: level })).body["generationConfig"]).toEqual(level.generationConfig);
    const elsewhere = await sent("genai", { model: "test/chat", body: level });
    expect(elsewhere.fields).toContain("generationConfig.thinkingConfig.thinkingLevel dropped");
  });
});

test("contract 2.6: images without text can be requested only at the compatible base URL", async () => {
  const generationConfig = { responseModalities: ["IMAGE"] };
  expect((await sent("genai", { body: { generationConfig } })).body["generationConfig"]).toEqual(generationConfig);
  const { status, text } = await refused("genai", { door: "contract", body: { generationConfig } });
  expect([status, text]).toEqual([400, expect.stringContaining("generationConfig.responseModalities")]);
});

describe("choices 2: the version of the messages API", () => {
  const NEWEST = { "anthropic-version": "2026-10-21" };
  const user = (content: unknown) => ({ role: "user", content });

  test.each([false, true])("the client's version is forwarded on the native lane (stream: %p)", async (stream) => {
    for (const door of ["contract", "dropin"] as const) {
      const { headers, fields } = await sent("messages", { door, stream, headers: NEWEST });
      expect([headers["anthropic-version"], fields]).toEqual(["2026-10-21", []]);
      expect((await sent("messages", { door, stream })).headers["anthropic-version"]).toBe("2023-06-01");
    }
  });

  test("betas are sent with it", async () => {
    const { headers } = await sent("messages", { headers: { ...NEWEST, "anthropic-beta": "a-1" } });
    expect(headers).toMatchObject({ "anthropic-version": "2026-10-21", "anthropic-beta": "a-1" });
  });

  test.each([
    [{ temperature: 1 }],
    [{ top_p: 0.5 }],
    [{ top_k: 3 }],
    [
      {
        messages: [
          user("Read it."),
          {
            role: "assistant",
            content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: "A" } }],
          },
          user("And?"),
        ],
      },
    ],
    [
      {
        messages: [
          user([
            {
              type: "text",
              text: "A",
              citations: [
                {
                  type: "char_location",
                  cited_text: "A",
                  document_index: 0,
                  document_title: null,
                  start_char_index: 0,
                  end_char_index: 1,
                },
              ],
            },
          ]),
        ],
      },
    ],
  ])("decision 0102: what that version no longer accepts is refused: %j", async (body) => {
    for (const model of ["test/messages", "test/chat"]) {
      const { status, text } = await refused("messages", { model, headers: NEWEST, body });
      expect([status, text]).toEqual([400, expect.stringContaining("or send anthropic-version: 2023-06-01")]);
      expect(text).toContain("messages" in body ? "messages[" : (Object.keys(body)[0] ?? ""));
    }
    // The contract lists these fields, and has one version.
    const { headers, fields, body: up } = await sent("messages", { door: "contract", headers: NEWEST, body });
    expect([headers["anthropic-version"], fields]).toEqual(["2023-06-01", ["anthropic-version approximated"]]);
    expect(up).toMatchObject(body);
  });

  test("a document's citations and a response's own are no obstacle", async () => {
    const document = {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "A" },
      citations: { enabled: true },
    };
    const { headers } = await sent("messages", { headers: NEWEST, body: { messages: [user([document])] } });
    expect(headers["anthropic-version"]).toBe("2026-10-21");
  });

  test("it is accepted if the provider is called in another protocol, and nothing is lost", async () => {
    const { dialect, fields, body } = await sent("messages", {
      model: "test/chat",
      headers: NEWEST,
      body: { max_tokens: 50 },
    });
    expect([dialect.upstream, fields, body["max_completion_tokens"]]).toEqual(["chat", [], 50]);
  });

  test("other versions are refused", async () => {
    expect((await refused("messages", { headers: { "partner-version": "2026-10-21" } })).status).toBe(400);
    expect((await refused("messages", { headers: { "anthropic-version": "2026-10-22" } })).status).toBe(400);
  });
});
