import { beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

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

/** The vendor rejects a signature with any other text than the one it was made for. */
test("H47: a text within thinking does not separate the thinking from its signature", async () => {
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
  const { upstream } = harness;
  const options = { door: "dropin", model: "test/messages" } as const;
  upstream.play(upstream.stream(stream));
  const { text } = await harness.call("chat", { ...options, stream: true, body: { tools: [FUNCTION] } });
  const reasoning_details = deltasOf(text).flatMap((delta) => (delta["reasoning_details"] ?? []) as object[]);
  const messages = [
    { role: "user", content: "Go." },
    { role: "assistant", content: "Hm.", reasoning_details, tool_calls: [CALL] },
    { role: "tool", tool_call_id: "call_1", content: "done" },
  ];
  upstream.play(upstream.json(plainAnswer("messages", { text: "Done.", usage: plainUsage("messages", 5, 2) })));
  await harness.call("chat", { ...options, body: { tools: [FUNCTION], messages } });
  const [, assistant] = (JSON.parse(upstream.requests.at(-1)?.body ?? "{}") as { messages: { content: object[] }[] })
    .messages;
  expect(assistant?.content[0]).toEqual({ type: "thinking", thinking: "Let me see.", signature: "SIG" });
});
