import { describe, expect, test } from "bun:test";
import { DIALECTS } from "../../testing/build-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** Calls whose arguments are no JSON, from a host that sends them as text to clients that want an object. */

const { upstream, gateway } = await scriptedHarness();

const BROKEN = '{"only_older_than": "2020';
const call = { id: "call_1", type: "function", function: { name: "delete_files", arguments: BROKEN } };
const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };

const playWhole = (finish_reason: string) =>
  upstream.play(
    (_request, response) =>
      void sendJson(response, {
        id: "chatcmpl-9",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason }],
        usage,
      }),
  );

/** The text comes by itself, so that the answer has begun before its call breaks. */
const playStream = (finish: string) =>
  upstream.play(async (_request, response) => {
    startEvents(response);
    response.write(wire.chatChunk({ role: "assistant", content: "Let me see." }));
    await Bun.sleep(50);
    response.end(
      wire.chatChunk({ content: " One moment." }) +
        wire.chatChunk({ tool_calls: [{ index: 0, ...call }] }) +
        wire.chatChunk({}, finish) +
        wire.chatUsage(usage) +
        wire.done,
    );
  });

const OBJECT_ONLY = ["messages", "genai"] as const;
const WORDS = "The model called delete_files with arguments that are no JSON object.";

describe("H09: broken arguments are reported, and never become empty", () => {
  test.each(OBJECT_ONLY)("%s: a call that the model meant whole fails, after another try", async (dialect) => {
    playWhole("tool_calls");
    const response = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat" });
    expect(await errorOf(response)).toMatchObject({ status: 502, message: WORDS });
    expect(upstream.seen).toHaveLength(2);
  });

  test.each(OBJECT_ONLY)("%s: in a stream that has begun, the protocol's own error ends it", async (dialect) => {
    playStream("tool_calls");
    const response = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat", stream: true });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain("Let me see.");
    // Also what came in one read with the call.
    expect(text).toContain(" One moment.");
    expect(text).toContain(WORDS);
    expect(text).not.toContain("functionCall");
    expect(text).not.toMatch(/message_stop|"finishReason"/);
  });

  test.each([
    ["messages", '"input":{}', '"partial_json":"{\\"only_older_than\\": \\"2020"', "max_tokens", "approximated"],
    ["genai", '"parts":[{"text":""}]', "Let me see.", "MAX_TOKENS", "dropped"],
  ] as const)(
    "%s: an answer that was cut off says so, and the receipt too",
    async (dialect, whole, part, stop, action) => {
      const note = {
        path: "content",
        action,
        reason: "the answer was cut off amid the arguments of its call of delete_files",
      };
      playWhole("length");
      const unary = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat" });
      const answer = await unary.text();
      expect(answer).toContain(whole);
      expect(answer).toContain(stop);
      expect((await gateway.receipt(unary)).fields).toContainEqual(note);
      playStream("length");
      const stream = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat", stream: true });
      const text = await stream.text();
      expect(text).toContain(part);
      expect(text).toContain(stop);
      expect(text).not.toContain("functionCall");
      expect((await gateway.receipt(stream)).fields).toContainEqual(note);
    },
  );

  test("chat: the text as it came", async () => {
    playWhole("tool_calls");
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(await response.json()).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] });
  });
});

describe("H09, contract 2.13: arguments that the output limit cut under the finish reason of a call", () => {
  const said = "Let me see.";
  const cut = { finish_reason: "tool_calls", native_finish_reason: "max_output_tokens" };
  const LENGTH = {
    chat: /"finish_reason":\s*"length"/,
    messages: /"stop_reason":\s*"max_tokens"/,
    genai: /"finishReason":\s*"FINISH_REASON_MAX_TOKENS"/,
  };
  for (const dialect of DIALECTS) {
    for (const stream of [false, true]) {
      test(`${dialect}, streaming ${stream}: the text, the stop and the bill, and no provider is called twice`, async () => {
        upstream.play((_request, response) => {
          const message = { role: "assistant", content: said, tool_calls: [call] };
          if (!stream) return void sendJson(response, { choices: [{ index: 0, message, ...cut }], usage });
          startEvents(response);
          response.end(
            wire.chatChunk({ role: "assistant", content: said }) +
              wire.chatChunk({ tool_calls: [{ index: 0, ...call }] }) +
              `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [{ index: 0, delta: {}, ...cut }] })}\n\n` +
              wire.chatUsage(usage) +
              wire.done,
          );
        });
        const response = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat", stream });
        expect(response.status).toBe(200);
        const text = await response.text();
        expect(text).toContain(said);
        expect(text).toMatch(LENGTH[dialect]);
        expect(text).not.toContain('"error"');
        expect(upstream.seen).toHaveLength(1);
        const receipt = await gateway.receipt(response);
        expect(receipt).toMatchObject({ usage: { input: 5, output: 4 }, usage_source: "measured" });
        expect(receipt.stop?.unified).toBe("length");
      });
    }
  }

  test("a call that is whole stays one", async () => {
    const whole = { ...call, function: { name: "delete_files", arguments: "{}" } };
    const message = { role: "assistant", content: said, tool_calls: [whole] };
    upstream.play((_request, response) => void sendJson(response, { choices: [{ index: 0, message, ...cut }], usage }));
    const response = await callGateway(gateway.url, "messages", gateway.key, { model: "test/chat" });
    expect(await response.json()).toMatchObject({ stop_reason: "tool_use" });
  });
});

describe("contract 2.13: an empty function_call means that nothing was called", () => {
  const STOP = { messages: '"stop_reason":"end_turn"', genai: '"finishReason":"FINISH_REASON_STOP"' };
  for (const dialect of ["messages", "genai"] as const) {
    test.each([false, true])(`${dialect}, streaming %p`, async (stream) => {
      const function_call = { name: "", arguments: "" };
      upstream.play((_request, response) => {
        const message = { role: "assistant", content: "Hello.", function_call };
        if (!stream) return void sendJson(response, { choices: [{ index: 0, message, finish_reason: "stop" }], usage });
        startEvents(response);
        response.end(wire.chatChunk(message) + wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done);
      });
      const response = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat", stream });
      const text = await response.text();
      expect(text).toContain("Hello.");
      expect(text).toContain(STOP[dialect]);
      expect(text).not.toMatch(/"type":"tool_use"|functionCall/);
    });
  }

  test("and is no content that a stream is committed for", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(
        `${wire.chatChunk({ role: "assistant", function_call: { name: "", arguments: "" } })}data: {"error":{"message":"no","code":500}}\n\n`,
      );
    });
    expect((await callGateway(gateway.url, "chat", gateway.key, { stream: true })).status).toBe(502);
  });
});
