import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { responsesUsage } from "../../testing/wires/responses-wire.ts";

/** The calls of a response: the same to every client, however their host has sent them. */

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

type Json = Record<string, unknown>;

interface Called {
  name: string;
  /** Undefined: the host reports in its shortest form that there are none. */
  args: Json | undefined;
}

const argsOf = ({ args }: Called): string => (args === undefined ? "" : JSON.stringify(args));
const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [] };
const itemOf = (call: Called, index: number) => ({
  id: `fc_${index}`,
  type: "function_call",
  call_id: `call_${index}`,
  name: call.name,
  status: "completed",
  arguments: argsOf(call),
});

const wholeAnswers: Record<ScriptedDialect, (calls: readonly Called[]) => object> = {
  chat: (calls) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: calls.map((call, index) => ({
            id: `call_${index}`,
            type: "function",
            function: { name: call.name, arguments: argsOf(call) },
          })),
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: plainUsage("chat", 10, 5),
  }),
  messages: (calls) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: calls.map(({ name, args }, index) => ({
      type: "tool_use",
      id: `toolu_${index}`,
      name,
      input: args ?? {},
    })),
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: plainUsage("messages", 10, 5),
  }),
  genai: (calls) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: calls.map(({ name, args }) => ({ functionCall: { name, args } })),
        },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: plainUsage("genai", 10, 5),
  }),
  responses: (calls) => ({
    ...RESPONSE,
    status: "completed",
    output: calls.map(itemOf),
    usage: responsesUsage(10, 5),
  }),
};

/** A text in pieces, which end at these places. */
const cutAt = (text: string, ends: readonly number[]): string[] => {
  const places = [...new Set(ends.map((end) => end % (text.length + 1)))].toSorted((one, other) => one - other);
  return [0, ...places]
    .map((from, index) => text.slice(from, [...places, text.length][index]))
    .filter((one) => one !== "");
};

type Way = "first chunk" | "deltas" | "one piece" | "the end alone";
const WAYS: Record<ScriptedDialect, readonly Way[]> = {
  chat: ["first chunk", "deltas", "one piece"],
  messages: ["first chunk", "deltas", "one piece"],
  genai: ["one piece"],
  responses: ["deltas", "one piece", "the end alone"],
};

const chatCall = (index: number, more: object) => wire.chatChunk({ tool_calls: [{ index, ...more }] });

function streamChat(calls: readonly Called[], way: Way, ends: readonly number[]): string {
  const chunks = calls.map((call, index) => {
    const head = { id: `call_${index}`, type: "function" };
    const input = argsOf(call);
    if (way === "first chunk") return chatCall(index, { ...head, function: { name: call.name, arguments: input } });
    const rest = way === "one piece" ? [input] : cutAt(input, ends);
    return (
      chatCall(index, { ...head, function: { name: call.name, arguments: "" } }) +
      rest.map((piece) => chatCall(index, { function: { arguments: piece } })).join("")
    );
  });
  return chunks.join("") + wire.chatChunk({}, "tool_calls") + wire.done;
}

function streamMessages(calls: readonly Called[], way: Way, ends: readonly number[]): string {
  const blocks = calls.map((call, index) => {
    const input = way === "first chunk" ? (call.args ?? {}) : {};
    const pieces = way === "first chunk" ? [] : way === "one piece" ? [argsOf(call)] : cutAt(argsOf(call), ends);
    const content_block = { type: "tool_use", id: `toolu_${index}`, name: call.name, input };
    return (
      wire.event({ type: "content_block_start", index, content_block }) +
      pieces
        .map((partial_json) =>
          wire.event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } }),
        )
        .join("") +
      wire.event({ type: "content_block_stop", index })
    );
  });
  const delta = { stop_reason: "tool_use", stop_sequence: null };
  return (
    wire.messageStart() +
    blocks.join("") +
    wire.event({ type: "message_delta", delta, usage: { output_tokens: 5 } }) +
    wire.event({ type: "message_stop" })
  );
}

function streamResponses(calls: readonly Called[], way: Way, ends: readonly number[]): string {
  let sequence_number = 0;
  const event = (type: string, more: object) =>
    wire.event({ type: `response.${type}`, sequence_number: sequence_number++, ...more });
  const begun = event("created", { response: { ...RESPONSE, status: "in_progress" } });
  const items = calls.map((call, output_index) => {
    const item = itemOf(call, output_index);
    const at = { item_id: item.id, output_index };
    const pieces = way === "deltas" ? cutAt(item.arguments, ends) : way === "one piece" ? [item.arguments] : [];
    // A host that has the arguments only in the event that ends them.
    const done = way === "the end alone" ? { ...item, arguments: undefined } : item;
    return (
      event("output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }) +
      pieces.map((delta) => event("function_call_arguments.delta", { ...at, delta })).join("") +
      event("function_call_arguments.done", { ...at, arguments: item.arguments }) +
      event("output_item.done", { output_index, item: done })
    );
  });
  const output = way === "the end alone" ? [] : calls.map(itemOf);
  const response = { ...RESPONSE, status: "completed", output, usage: responsesUsage(10, 5) };
  return begun + items.join("") + event("completed", { response });
}

const streams: Record<ScriptedDialect, (calls: readonly Called[], way: Way, ends: readonly number[]) => string> = {
  chat: streamChat,
  messages: streamMessages,
  genai: (calls) => `data: ${JSON.stringify(wholeAnswers.genai(calls))}\n\n`,
  responses: streamResponses,
};

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const inner = (value: unknown, key: string): Json => ((value as Json | undefined)?.[key] ?? {}) as Json;

/** Calls as a client of the protocol assembles them: name and parsed arguments. */
const readWhole: Record<ScriptedDialect, (answer: Json) => [unknown, unknown][]> = {
  chat: (answer) =>
    list(inner(list(answer["choices"])[0], "message")["tool_calls"]).map((call) => {
      const called = inner(call, "function");
      return [called["name"], JSON.parse(String(called["arguments"]))];
    }),
  messages: (answer) =>
    list(answer["content"])
      .filter(({ type }) => type === "tool_use")
      .map(({ name, input }) => [name, input]),
  genai: (answer) =>
    list(inner(list(answer["candidates"])[0], "content")["parts"])
      .filter((part) => part["functionCall"] !== undefined)
      .map((part) => [inner(part, "functionCall")["name"], inner(part, "functionCall")["args"]]),
  responses: (answer) =>
    list(answer["output"])
      .filter(({ type }) => type === "function_call")
      .map((item) => [item["name"], JSON.parse(String(item["arguments"]))]),
};

function readStream(client: ScriptedDialect, text: string): [unknown, unknown][] {
  const events = readFrames(text).flatMap(({ data }) =>
    data === undefined || data === "[DONE]" ? [] : [JSON.parse(data) as Json],
  );
  if (client === "genai") return events.flatMap((event) => readWhole.genai(event));
  const calls = new Map<unknown, { name: unknown; input: string }>();
  for (const event of events) {
    if (client === "chat") {
      for (const call of list(inner(list(event["choices"])[0], "delta")["tool_calls"])) {
        const known = calls.get(call["index"]) ?? { name: inner(call, "function")["name"], input: "" };
        calls.set(call["index"], known);
        known.input += String(inner(call, "function")["arguments"] ?? "");
      }
    } else if (client === "messages") {
      const block = inner(event, "content_block");
      if (block["type"] === "tool_use") calls.set(event["index"], { name: block["name"], input: "" });
      const open = calls.get(event["index"]);
      if (open !== undefined) open.input += String(inner(event, "delta")["partial_json"] ?? "");
    } else if (event["type"] === "response.output_item.added") {
      const item = inner(event, "item");
      if (item["type"] === "function_call") calls.set(event["output_index"], { name: item["name"], input: "" });
    } else if (event["type"] === "response.function_call_arguments.delta") {
      const open = calls.get(event["output_index"]);
      if (open !== undefined) open.input += String(event["delta"]);
    }
  }
  // Messages clients read missing deltas as an empty object; the others get it as text.
  return [...calls.values()].map(({ name, input }) => [
    name,
    JSON.parse(client === "messages" ? input || "{}" : input),
  ]);
}

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const value = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer()),
);
const called: fc.Arbitrary<Called> = fc.record({
  name: word,
  args: fc.option(fc.dictionary(word, value, { maxKeys: 4, noNullPrototype: true }), { nil: undefined }),
});

describe.each(SCRIPTED_DIALECTS)("calls of a %s host", (host) => {
  describe.each(SCRIPTED_DIALECTS)("to a %s client", (client) => {
    // Native content is the host's own: empty arguments stay the empty text that the host sent.
    const native = host === client;

    test("H45, H46, H49: are the same, streamed in any way or not at all", async () => {
      const cases = fc.record({
        calls: fc.array(called, { minLength: 1, maxLength: 3 }),
        way: fc.constantFrom(...WAYS[host]),
        ends: fc.array(fc.nat(60), { maxLength: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(cases, async ({ calls, way, ends }) => {
          const sent = native ? calls.map(({ name, args }) => ({ name, args: args ?? {} })) : calls;
          const expected = sent.map(({ name, args }) => [name, args ?? {}]);
          const { upstream } = harness;
          upstream.play(upstream.json(wholeAnswers[host](sent)));
          const whole = await harness.call(client, { model: `test/${host}` });
          expect(readWhole[client](JSON.parse(whole.text) as Json)).toEqual(expected as [unknown, unknown][]);
          if (native) return;
          upstream.play(upstream.stream(streams[host](sent, way, ends)));
          const streamed = await harness.call(client, { model: `test/${host}`, stream: true });
          expect(readStream(client, streamed.text)).toEqual(expected as [unknown, unknown][]);
        }),
        { numRuns: 20 },
      );
    });
  });
});

describe("H47: half a call of a messages host", () => {
  const half =
    wire.messageStart() +
    wire.event({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name: "remove", input: {} },
    }) +
    wire.event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: '{"path":"/' },
    });

  test.each(SCRIPTED_DIALECTS)("is an error to a %s client when the response starts over", async (client) => {
    const { upstream } = harness;
    upstream.play(upstream.stream(half, 10, wire.messageStart() + wire.textBlock("Hello") + wire.messageEnd()));
    const { text } = await harness.call(client, { model: "test/messages", stream: true });
    expect(text).toMatch(/"error":\{/);
    expect(text).not.toMatch(/message_stop|\[DONE\]|response\.completed|finishReason|functionCall"/);
    expect(text).not.toMatch(/function_call_arguments\.done|content_block_stop/);
  });
});

describe("H49: a tool without parameters", () => {
  const definitions: Record<ScriptedDialect, Json> = {
    chat: { tools: [{ type: "function", function: { name: "look" } }] },
    messages: { tools: [{ name: "look", input_schema: { type: "object" } }] },
    genai: { tools: [{ functionDeclarations: [{ name: "look" }] }] },
    responses: { tools: [{ type: "function", name: "look", parameters: null }] },
  };

  for (const client of SCRIPTED_DIALECTS) {
    test.each(SCRIPTED_DIALECTS)(`of a ${client} client can be called by a model of a %s host`, async (host) => {
      const { upstream } = harness;
      upstream.play(upstream.json(wholeAnswers[host]([{ name: "look", args: host === client ? {} : undefined }])));
      const body = definitions[client];
      const answer = await harness.call(client, { model: `test/${host}`, body, door: "dropin" });
      expect(answer.status).toBe(200);
      expect(upstream.requests[0]?.body).toContain('"look"');
      expect(readWhole[client](JSON.parse(answer.text) as Json)).toEqual([["look", {}]]);
    });
  }
});

describe("H49: null as the arguments of a call in the history", () => {
  const bodies = {
    chat: {
      messages: [
        { role: "user", content: "Go." },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "null" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "done" },
      ],
    },
    responses: {
      input: [
        { role: "user", content: "Go." },
        { type: "function_call", call_id: "call_1", name: "look", arguments: "null" },
        { type: "function_call_output", call_id: "call_1", output: "done" },
      ],
    },
  };
  const places = { chat: "messages[1].tool_calls[0]", responses: "input[1]" };

  for (const client of ["chat", "responses"] as const) {
    test.each(SCRIPTED_DIALECTS)(`of a ${client} client is noted where it becomes {} for a %s host`, async (host) => {
      const { upstream } = harness;
      upstream.play(upstream.json(wholeAnswers[host]([])));
      const answer = await harness.call(client, { model: `test/${host}`, body: bodies[client], door: "dropin" });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      const { fields } = await harness.receipt(answer);
      const hasText = host === "chat" || host === "responses";
      expect(upstream.requests[0]?.body).toMatch(hasText ? /"arguments":"null"/ : /"(?:input|args)":\{\}/);
      expect(fields.filter(({ path }) => path === places[client]).map(({ action }) => action)).toEqual(
        hasText ? [] : ["approximated"],
      );
    });
  }
});
