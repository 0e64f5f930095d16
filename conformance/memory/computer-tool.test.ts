import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { JsonObject } from "../../src/base/json.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { sdkFetch } from "../support/sdk-fetch.ts";

/** Decision 0104: a computer that the client operates, for models of other protocols. */

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const base = { baseURL: "http://gateway.test", maxRetries: 0 };
const sentBody = () => JSON.parse(harness.upstream.requests[0]?.body ?? "{}") as JsonObject;
const notes = async () =>
  ((await harness.receipts()).at(-1)?.fields ?? []).map(({ path, action }) => `${path} ${action}`);

const calls = (input: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-model",
  content: [{ type: "tool_use", id: "toolu_1", name: "computer", input }],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 4 },
});

/** The same as events. */
const streamOf = (message: ReturnType<typeof calls>): string => {
  const [block] = message.content;
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { ...block, input: {} } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(block?.input) },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 4 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
};

describe("decision 0104: OpenAI's SDK with a model of the Messages protocol", () => {
  const client = () =>
    new OpenAI({ ...base, baseURL: `${base.baseURL}/v1`, apiKey: TEST_KEY, fetch: sdkFetch(harness) });
  const tools: OpenAI.Responses.Tool[] = [{ type: "computer" }];
  const request = { model: "test/messages", input: "Open the menu.", tools, store: false };

  test.each([false, true])("a call is the item that the client expects, streamed: %p", async (stream) => {
    const message = calls({
      actions: [{ type: "click", x: 10, y: 20 }, { type: "type", text: "hi" }, { type: "wait" }],
    });
    harness.upstream.play(stream ? harness.upstream.stream(streamOf(message)) : harness.upstream.json(message));
    const { responses } = client();
    const answer = stream ? await responses.stream(request).finalResponse() : await responses.create(request);
    expect(answer.output).toMatchObject([
      {
        type: "computer_call",
        call_id: "toolu_1",
        status: "completed",
        pending_safety_checks: [],
        actions: [{ type: "click", x: 10, y: 20, button: "left" }, { type: "type", text: "hi" }, { type: "wait" }],
      },
    ]);
    expect(sentBody()["tools"]).toMatchObject([{ name: "computer", input_schema: { required: ["actions"] } }]);
    expect(await notes()).toEqual(["tools[0] approximated"]);
  });

  test.each([{ actions: [] }, { actions: [{ type: "click", x: 1 }] }, { actions: [{ type: "explode" }] }, {}])(
    "arguments that make no call are an error: %j",
    async (input) => {
      harness.upstream.play(harness.upstream.json(calls(input)), harness.upstream.json(calls(input)));
      const failed = await client()
        .responses.create(request)
        .then(
          () => "",
          (error: Error) => error.message,
        );
      expect(failed).toContain("computer");
    },
  );

  test("a screenshot reaches the model as an image", async () => {
    harness.upstream.play(
      harness.upstream.json(plainAnswer("messages", { text: "Done.", usage: plainUsage("messages", 9, 2) })),
    );
    const answer = await client().responses.create({
      ...request,
      input: [
        { role: "user", content: "Open the menu." },
        {
          type: "computer_call",
          id: "cu_1",
          call_id: "call_1",
          status: "completed",
          pending_safety_checks: [],
          actions: [{ type: "click", x: 10, y: 20, button: "left" }],
        },
        {
          type: "computer_call_output",
          call_id: "call_1",
          output: { type: "computer_screenshot", image_url: `data:image/png;base64,${PNG}` },
        },
      ],
    });
    expect(answer.output_text).toBe("Done.");
    expect(sentBody()["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          {
            type: "tool_use",
            name: "computer",
            input: { actions: [{ type: "click", x: 10, y: 20, button: "left" }] },
          },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", content: [{ type: "image", source: { type: "base64", data: PNG } }] }],
      },
    ]);
  });
});

describe("decision 0104: Anthropic's SDK with a model of the Responses protocol", () => {
  test("a call and its screenshot", async () => {
    const client = new Anthropic({ ...base, authToken: TEST_KEY, apiKey: null, fetch: sdkFetch(harness) });
    const tool = {
      type: "computer_20251124" as const,
      name: "computer" as const,
      display_width_px: 1280,
      display_height_px: 800,
    };
    const request = { model: "test/responses", max_tokens: 100, tools: [tool], betas: ["computer-use-2025-11-24"] };
    const input = { action: "left_click", coordinate: [10, 20] };
    harness.upstream.play(
      harness.upstream.json({
        ...plainAnswer("responses", { text: "", usage: plainUsage("responses", 20, 4) }),
        output: [
          { type: "function_call", id: "fc_1", call_id: "call_1", name: "computer", arguments: JSON.stringify(input) },
        ],
      }),
    );
    const message = await client.beta.messages.create({ ...request, messages: [{ role: "user", content: "Click." }] });
    expect(message.content).toMatchObject([{ type: "tool_use", name: "computer", input }]);
    expect(sentBody()["tools"]).toMatchObject([
      { type: "function", name: "computer", description: expect.stringContaining("1280 pixels wide") },
    ]);
    expect(await notes()).toEqual(["tools[0] approximated", "beta computer-use-2025-11-24 dropped"]);

    harness.upstream.play(
      harness.upstream.json(plainAnswer("responses", { text: "Done.", usage: plainUsage("responses", 20, 4) })),
    );
    const [call] = message.content;
    const id = call?.type === "tool_use" ? call.id : "";
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: PNG },
    };
    await client.beta.messages.create({
      ...request,
      messages: [
        { role: "user", content: "Click." },
        { role: "assistant", content: [{ type: "tool_use", id, name: "computer", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: [image] }] },
      ],
    });
    expect(sentBody()["input"]).toMatchObject([
      { role: "user" },
      { type: "function_call", name: "computer" },
      { type: "function_call_output", output: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }] },
    ]);
  });
});
