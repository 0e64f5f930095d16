import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

/**
 * Where the gateway is not transparent yet: each test says what is right and fails today, which `test.failing` expects. Whoever
 * mends one makes it an ordinary test.
 */

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const offers = [{ provider: "up-chat", model: "newest", tools_dialect: "responses" }];
  harness = await Harness.start({
    config: { ...config, models: [...models, { ...models[0], id: "test/newest", offers }] },
  });
});

interface Heard extends ReadAnswer {
  notes: string[];
  usage: ReceiptData["usage"];
}

/** A call that an upstream answers with this: a body, or the text of a stream. */
async function heard(client: DialectName, reply: object | string, options: CallOptions): Promise<Heard> {
  const stream = typeof reply === "string";
  harness.upstream.play(stream ? harness.upstream.stream(reply) : harness.upstream.json(reply));
  const answer = await harness.call(client, { door: "dropin", stream, ...options });
  const { fields, usage } = await harness.receipt(answer);
  return { ...answer, notes: fields.map(({ path, action }) => `${path} ${action}`), usage };
}

/** What goes up for a request, and what the receipt says of it. */
async function sent(
  client: DialectName,
  options: CallOptions,
): Promise<{ url: string; body: JsonObject; notes: string[] }> {
  harness.upstream.play(async (reply, { url, ...request }) => {
    const dialect = url.includes("/responses") ? "responses" : url.includes("/messages") ? "messages" : "chat";
    const usage = plainUsage(dialect, 5, 2);
    const script = options.stream
      ? harness.upstream.stream(plainStream(dialect, ["It is ", "sunny."], usage))
      : harness.upstream.json(plainAnswer(dialect, { text: "It is sunny.", usage }));
    await script(reply, { url, ...request });
  });
  const answer = await harness.call(client, { door: "dropin", ...options });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const { fields } = await harness.receipt(answer);
  const [request] = harness.upstream.requests;
  return {
    url: request?.url ?? "",
    body: JSON.parse(request?.body ?? "{}") as JsonObject,
    notes: fields.map(({ path, action }) => `${path} ${action}`),
  };
}

const eventsOf = (text: string): JsonObject[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as JsonObject);

/** The deltas of a chat stream's only choice. */
const deltasOf = (text: string): JsonObject[] =>
  eventsOf(text).flatMap(({ choices }) => (choices as { delta: JsonObject }[]).map(({ delta }) => delta));

const FUNCTION = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

describe("thinking", () => {
  /** The vendor refuses a signature that stands next to another text than the one it was made for. */
  test("H47: a text amid thinking does not part the thinking from its signature", async () => {
    const block = (index: number, content_block: object, ...deltas: object[]) =>
      [
        wire.event({ type: "content_block_start", index, content_block }),
        ...deltas.map((delta) => wire.event({ type: "content_block_delta", index, delta })),
        wire.event({ type: "content_block_stop", index }),
      ].join("");
    const stream =
      wire.messageStart() +
      block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "Let me see." },
        { type: "text_delta", text: "Hm." },
        { type: "signature_delta", signature: "SIG" },
      ) +
      block(
        1,
        { type: "tool_use", id: "call_1", name: "f", input: {} },
        { type: "input_json_delta", partial_json: "{}" },
      ) +
      wire.event({
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 7 },
      }) +
      wire.event({ type: "message_stop" });
    const { text } = await heard("chat", stream, { model: "test/messages", body: { tools: [FUNCTION] } });
    const reasoning_details = deltasOf(text).flatMap((delta) => (delta["reasoning_details"] ?? []) as object[]);
    const messages = [
      { role: "user", content: "Go." },
      { role: "assistant", content: "Hm.", reasoning_details, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ];
    const { body } = await sent("chat", { model: "test/messages", body: { tools: [FUNCTION], messages } });
    const [, assistant] = body["messages"] as { content: object[] }[];
    expect(assistant?.content[0]).toEqual({ type: "thinking", thinking: "Let me see.", signature: "SIG" });
  });
});

describe("late errors", () => {
  /** All of its arguments and the finish reason had come. */
  test.failing("H31: a whole call that came before the error of a chat host is sent to Google's clients", async () => {
    const call = (index: number, id: string, name: string) =>
      wire.chatChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: '{"a":1}' } }] });
    const stream = [call(0, "call_1", "f"), call(1, "call_2", "g"), wire.chatChunk({}, "tool_calls")].join("");
    const error = `data: ${JSON.stringify({ error: { message: "boom", type: "server_error", code: 500 } })}\n\n`;
    harness.upstream.play(harness.upstream.stream(stream, 50, error));
    const { text } = await harness.call("genai", { door: "dropin", model: "test/chat", stream: true });
    expect([...text.matchAll(/"name":"(\w)"/g)].map(([, name]) => name)).toEqual(["f", "g"]);
  });
});

describe("tools", () => {
  test.failing("decision 0092: functions of the older form go where the model takes tools", async () => {
    const { name, parameters } = FUNCTION.function;
    const { url } = await sent("chat", { model: "test/newest", body: { functions: [{ name, parameters }] } });
    expect(url).toBe(`${UPSTREAM_URL}/v1/responses`);
  });
});

describe("usage", () => {
  /** The vendor's type requires it, and clients read `usage.input_tokens` without a look. */
  test.failing("a messages answer of a host without usage has the estimate that its stream has", async () => {
    const { usage: _absent, ...reply } = plainAnswer("messages", { text: "It is sunny.", usage: {} }) as JsonObject;
    const { text } = await heard("messages", reply, { model: "test/messages" });
    const streamed = await heard(
      "messages",
      plainStream("messages", ["It is ", "sunny."], {}).replace(
        '"usage":{"input_tokens":10,"output_tokens":1}',
        '"usage":{}',
      ),
      { model: "test/messages" },
    );
    expect(streamed.text).toContain('"usage":{');
    expect((JSON.parse(text) as JsonObject)["usage"]).toMatchObject({ input_tokens: expect.any(Number) });
  });
});

describe("methods", () => {
  test.failing("GET at the URL of a verb is the wrong method, and no unknown provider", async () => {
    const { status, headers } = await harness.ask("GET", "/v1beta/models/test/genai:generateContent");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  /** RFC 9110, 9.1: servers support GET and HEAD. */
  test.failing.each(["/v1/models", "/v1beta/models", "/v1/models/test/chat"])(
    "HEAD is answered like GET at %s",
    async (path) => {
      expect((await harness.ask("HEAD", path)).status).toBe(200);
    },
  );
});

describe("keys", () => {
  /** The vendor's SDK sends a key of blanks as an empty header. */
  test.each(["x-goog-api-key", "x-api-key"])("an empty %s is a wrong key in lists of models", async (name) => {
    expect((await harness.get("/v1/models", { [name]: "" })).status).toBe(401);
  });
});
