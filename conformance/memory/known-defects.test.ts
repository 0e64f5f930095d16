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

describe("keys", () => {
  /** The vendor's SDK sends a key of blanks as an empty header. */
  test.each(["x-goog-api-key", "x-api-key"])("an empty %s is a wrong key in lists of models", async (name) => {
    expect((await harness.get("/v1/models", { [name]: "" })).status).toBe(401);
  });
});
