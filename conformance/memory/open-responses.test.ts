import { beforeAll, describe, expect, test } from "bun:test";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { breachesOfEvent, breachesOfResponse } from "../support/open-responses.ts";

/** The cases of the Open Responses compliance suite, with every upstream protocol. */

type Json = Record<string, unknown>;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

const ARGUMENTS = '{"location":"San Francisco, CA"}';
const TOOL = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};

const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: "get_weather" };
/** A host that reports only its response. */
const BARE = { id: "resp_1", object: "response", created_at: 1, model: "upstream-model", output: [] };

const callAnswers: Record<ScriptedDialect, object> = {
  chat: {
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
          reasoning_content: "The weather.",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "get_weather", arguments: ARGUMENTS } }],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: plainUsage("chat", 10, 5),
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "thinking", thinking: "The weather.", signature: "c2ln" },
      { type: "tool_use", id: "toolu_1", name: "get_weather", input: JSON.parse(ARGUMENTS) },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: plainUsage("messages", 10, 5),
  },
  genai: {
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "The weather.", thought: true },
            { functionCall: { name: "get_weather", args: JSON.parse(ARGUMENTS) }, thoughtSignature: "c2ln" },
          ],
        },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: plainUsage("genai", 10, 5),
  },
  responses: {
    ...BARE,
    status: "completed",
    tools: [TOOL],
    temperature: null,
    output: [{ ...CALL, arguments: ARGUMENTS, status: "completed" }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  },
};

const numbered = (events: readonly ({ type: string } & Json)[]): string =>
  events.map((event, sequence_number) => wire.event({ ...event, sequence_number })).join("");

const callStreams: Record<ScriptedDialect, string> = {
  chat:
    wire.chatChunk({
      tool_calls: [
        { index: 0, id: "call_1", type: "function", function: { name: "get_weather", arguments: ARGUMENTS } },
      ],
    }) +
    wire.chatChunk({}, "tool_calls") +
    wire.done,
  messages:
    wire.messageStart() +
    wire.event({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} },
    }) +
    wire.event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: ARGUMENTS },
    }) +
    wire.messageEnd().replace("end_turn", "tool_use"),
  genai: `data: ${JSON.stringify(callAnswers.genai)}\n\n`,
  responses: numbered([
    { type: "response.created", response: { ...BARE, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...CALL, arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 0, delta: ARGUMENTS },
    { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 0, arguments: ARGUMENTS },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...CALL, arguments: ARGUMENTS, status: "completed" },
    },
    { type: "response.completed", response: callAnswers.responses },
  ]),
};

const user = (content: unknown) => ({ type: "message", role: "user", content });
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const CASES: Record<string, Json> = {
  "a text": { input: [user("Say hello in exactly 3 words.")] },
  "a system message": { input: [{ type: "message", role: "system", content: "You are a pirate." }, user("Hello.")] },
  "an image": {
    input: [
      user([
        { type: "input_text", text: "What is this?" },
        { type: "input_image", image_url: PIXEL },
      ]),
    ],
  },
  "several turns": {
    input: [user("I am Alice."), { type: "message", role: "assistant", content: "Hello Alice." }, user("Who am I?")],
  },
  "settings of its own": {
    input: "Hello",
    temperature: 0.5,
    top_p: 0.9,
    instructions: "Be brief.",
    metadata: { a: "b" },
  },
};

const eventsIn = (text: string): Json[] =>
  readFrames(text).flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as Json]));

describe.each(SCRIPTED_DIALECTS)("R35: with a %s host", (host) => {
  const model = `test/${host}`;
  const usage = plainUsage(host, 10, 5);

  test.each(Object.entries(CASES))("the response to %s has every required member", async (_case, body) => {
    harness.upstream.play(harness.upstream.json(plainAnswer(host, { text: "Hello there.", usage })));
    const { status, text } = await harness.call("responses", { model, body });
    expect(status).toBe(200);
    const answer = JSON.parse(text) as Json;
    expect(breachesOfResponse(answer)).toEqual([]);
    expect(answer).toMatchObject({ status: "completed", completed_at: expect.any(Number) });
  });

  test.each(Object.entries(CASES))("so does every event of a stream for %s", async (_case, body) => {
    harness.upstream.play(harness.upstream.stream(plainStream(host, ["Hello ", "there."], usage)));
    const events = eventsIn((await harness.call("responses", { model, body, stream: true })).text);
    expect(events.flatMap(breachesOfEvent)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { completed_at: expect.any(Number) } });
  });

  test("a tool is echoed whole, and its call has every member", async () => {
    harness.upstream.play(harness.upstream.json(callAnswers[host]));
    const answer = JSON.parse((await harness.call("responses", { model, body: { tools: [TOOL] } })).text) as Json;
    expect(breachesOfResponse(answer)).toEqual([]);
    expect(answer["tools"]).toEqual([{ ...TOOL, description: null, strict: null }]);
    const calls = (answer["output"] as Json[]).filter(({ type }) => type === "function_call");
    expect(calls).toMatchObject([{ name: "get_weather", arguments: ARGUMENTS, status: "completed" }]);
  });

  test("so has each event of a call, and the end of its arguments has the function's name", async () => {
    harness.upstream.play(harness.upstream.stream(callStreams[host]));
    const { text } = await harness.call("responses", { model, body: { tools: [TOOL] }, stream: true });
    const events = eventsIn(text);
    expect(events.flatMap(breachesOfEvent)).toEqual([]);
    const types = new Set(events.map(({ type }) => type));
    for (const type of ["output_item.added", "function_call_arguments.delta", "output_item.done"])
      expect(types).toContain(`response.${type}`);
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ name: "get_weather", arguments: ARGUMENTS });
  });

  test("so have the events of a failing stream", async () => {
    const { upstream } = harness;
    const whole = plainStream(host, ["Hello ", "there."], usage);
    upstream.play(upstream.brokenStream(whole.slice(0, whole.indexOf("there.")), 10));
    const events = eventsIn((await harness.call("responses", { model, stream: true })).text);
    expect(events.flatMap(breachesOfEvent)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "response.failed" });
  });
});
