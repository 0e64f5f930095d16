import { describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** Calls whose arguments are invalid JSON, from a host that sends text to clients that expect an object. */

const { upstream, gateway } = await scriptedHarness();

const BROKEN = '{"only_older_than": "2020';
const call = { id: "call_1", type: "function", function: { name: "delete_files", arguments: BROKEN } };
const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };

const HOSTS = ["chat", "responses"] as const;
type Host = (typeof HOSTS)[number];
/** Whether the model declared its call complete. */
type End = "meant" | "cut";

/** The same call as an item. */
const item = (end: End) => ({
  id: "fc_1",
  type: "function_call",
  call_id: call.id,
  name: call.function.name,
  arguments: BROKEN,
  status: end === "cut" ? "incomplete" : "completed",
});

const responsesEnd = (end: End, output: object[]) => ({
  ...responsesAnswer("", responsesUsage(5, 4)),
  ...(end === "cut" ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } } : {}),
  output,
});

const chatFinish = (end: End) => (end === "cut" ? "length" : "tool_calls");

const wholeOf = (host: Host, end: End): object =>
  host === "responses"
    ? responsesEnd(end, [item(end)])
    : {
        id: "chatcmpl-9",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: null, tool_calls: [call] },
            finish_reason: chatFinish(end),
          },
        ],
        usage,
      };

const playWhole = (host: Host, end: End) =>
  upstream.play((_request, response) => void sendJson(response, wholeOf(host, end)));

/** The first part of a stream, and everything after it. */
function streamOf(host: Host, end: End): [first: string, rest: string] {
  if (host === "chat")
    return [
      wire.chatChunk({ role: "assistant", content: "Let me see." }),
      wire.chatChunk({ content: " One moment." }) +
        wire.chatChunk({ tool_calls: [{ index: 0, ...call }] }) +
        wire.chatChunk({}, chatFinish(end)) +
        wire.chatUsage(usage) +
        wire.done,
    ];
  const script = new ResponsesScript();
  const at = { output_index: 1, item_id: "fc_1" };
  const first = script.begin() + script.delta("Let me see.");
  return [
    first,
    script.delta(" One moment.") +
      script.close() +
      script.event("output_item.added", { ...at, item: { ...item(end), arguments: "", status: "in_progress" } }) +
      script.event("function_call_arguments.delta", { ...at, delta: BROKEN }) +
      script.event("function_call_arguments.done", { ...at, arguments: BROKEN }) +
      script.event("output_item.done", { output_index: 1, item: item(end) }) +
      script.event(end === "cut" ? "incomplete" : "completed", { response: responsesEnd(end, []) }),
  ];
}

/** A stream whose host sends the text first, so that the response has begun before its call breaks. */
async function callStream(client: (typeof SCRIPTED_DIALECTS)[number], host: Host, end: End): Promise<Response> {
  const begun = Promise.withResolvers<void>();
  upstream.play(async (_request, response) => {
    const [first, rest] = streamOf(host, end);
    startEvents(response);
    response.write(first);
    await begun.promise;
    response.end(rest);
  });
  const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
  begun.resolve();
  return response;
}

const OBJECT_ONLY = ["messages", "genai"] as const;
const WORDS = "The model called delete_files with arguments that are not a JSON object.";

describe("H09: invalid arguments are reported, and never become empty", () => {
  const ways = OBJECT_ONLY.flatMap((client) => HOSTS.map((host) => [client, host] as const));
  test.each(ways)("%s: a complete but invalid call of a %s host fails, after another try", async (client, host) => {
    playWhole(host, "meant");
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    expect(await errorOf(response)).toMatchObject({ status: 502, message: WORDS });
    expect(upstream.seen).toHaveLength(2);
  });

  test.each(ways)(
    "%s: in a stream of a %s host that has begun, the protocol's own error ends it",
    async (client, host) => {
      const response = await callStream(client, host, "meant");
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain("Let me see.");
      // Also what arrived in one read with the call.
      expect(text).toContain(" One moment.");
      expect(text).toContain(WORDS);
      expect(text).not.toContain("functionCall");
      expect(text).not.toMatch(/message_stop|"finishReason"/);
    },
  );

  const CUT = {
    messages: {
      whole: '"input":{}',
      part: '"partial_json":"{\\"only_older_than\\": \\"2020"',
      stop: "max_tokens",
      action: "approximated",
    },
    genai: { whole: '"parts":[{"text":""}]', part: "Let me see.", stop: "MAX_TOKENS", action: "dropped" },
  };
  test.each(ways)("%s: a truncated response of a %s host says so, and so does the receipt", async (client, host) => {
    const { whole, part, stop, action } = CUT[client];
    const note = {
      path: "answer.content",
      action,
      reason: "the response was cut off inside the arguments of its call to delete_files",
    };
    playWhole(host, "cut");
    const unary = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    const answer = await unary.text();
    expect(answer).toContain(whole);
    expect(answer).toContain(stop);
    expect((await gateway.receipt(unary)).fields).toContainEqual(note);
    const stream = await callStream(client, host, "cut");
    const text = await stream.text();
    expect(text).toContain(part);
    expect(text).toContain(stop);
    expect(text).not.toContain("functionCall");
    expect((await gateway.receipt(stream)).fields).toContainEqual(note);
  });

  const TEXT = HOSTS.flatMap((client) => HOSTS.map((host) => [client, host] as const));
  test.each(TEXT)("%s client, %s host: the text is unchanged", async (client, host) => {
    playWhole(host, "meant");
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    const called = { type: "function_call", call_id: "call_1", name: "delete_files", arguments: BROKEN };
    expect(await response.json()).toMatchObject(
      client === "chat"
        ? { choices: [{ message: { tool_calls: [call] }, finish_reason: "tool_calls" }] }
        : { status: "completed", output: [{ ...called, status: "completed" }] },
    );
    const stream = await callStream(client, host, "meant");
    const text = await stream.text();
    expect(text).toContain(JSON.stringify(BROKEN));
    expect(text).toContain(client === "chat" ? '"finish_reason":"tool_calls"' : "event: response.completed");
  });

  test.each(TEXT)("%s client, %s host: a truncated response says so, with the text unchanged", async (client, host) => {
    playWhole(host, "cut");
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    expect(await response.json()).toMatchObject(
      client === "chat"
        ? { choices: [{ message: { tool_calls: [call] }, finish_reason: "length" }] }
        : {
            status: "incomplete",
            incomplete_details: { reason: "max_output_tokens" },
            output: [{ type: "function_call", arguments: BROKEN, status: "incomplete" }],
          },
    );
    const stream = await callStream(client, host, "cut");
    const text = await stream.text();
    expect(text).toContain(JSON.stringify(BROKEN));
    expect(text).toContain(client === "chat" ? '"finish_reason":"length"' : "event: response.incomplete");
  });
});

describe("H09, contract 2.13: arguments truncated by the output limit under the finish reason of a call", () => {
  const said = "Let me see.";
  const cut = { finish_reason: "tool_calls", native_finish_reason: "max_output_tokens" };
  const LENGTH = {
    chat: /"finish_reason":\s*"length"/,
    messages: /"stop_reason":\s*"max_tokens"/,
    genai: /"finishReason":\s*"FINISH_REASON_MAX_TOKENS"/,
    responses: /"incomplete_details":\s*\{"reason":\s*"max_output_tokens"\}/,
  };
  for (const dialect of SCRIPTED_DIALECTS) {
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
        expect(text).not.toMatch(/"error":\s*[^n]/);
        expect(upstream.seen).toHaveLength(1);
        const receipt = await gateway.receipt(response);
        expect(receipt).toMatchObject({ usage: { input: 5, output: 4 }, usage_source: "measured" });
        expect(receipt.stop?.unified).toBe("length");
      });
    }
  }

  test("a complete call stays complete", async () => {
    const whole = { ...call, function: { name: "delete_files", arguments: "{}" } };
    const message = { role: "assistant", content: said, tool_calls: [whole] };
    upstream.play((_request, response) => void sendJson(response, { choices: [{ index: 0, message, ...cut }], usage }));
    const response = await callGateway(gateway.url, "messages", gateway.key, { model: "test/chat" });
    expect(await response.json()).toMatchObject({ stop_reason: "tool_use" });
  });
});

describe("contract 2.13: an empty function_call means that nothing was called", () => {
  const STOP = {
    messages: '"stop_reason":"end_turn"',
    genai: '"finishReason":"FINISH_REASON_STOP"',
    responses: '"status":"completed"',
  };
  for (const dialect of ["messages", "genai", "responses"] as const) {
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
      expect(text).not.toMatch(/"type":"tool_use"|functionCall|function_call/);
    });
  }

  test("and does not commit a stream", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(
        `${wire.chatChunk({ role: "assistant", function_call: { name: "", arguments: "" } })}data: {"error":{"message":"no","code":500}}\n\n`,
      );
    });
    expect((await callGateway(gateway.url, "chat", gateway.key, { stream: true })).status).toBe(502);
  });
});
