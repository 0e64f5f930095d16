import { describe, expect, test } from "bun:test";
import { plainAnswer, plainStream } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer } from "../../testing/wires/responses-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const SAID = "word ".repeat(24);

/** None of them reports usage; everything that is not generated text is there to be miscounted. */
const ANSWERS = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "upstream-model",
    choices: [{ index: 0, message: { role: "assistant", content: SAID }, finish_reason: "stop" }],
    system_fingerprint: "fp_".padEnd(2000, "0"),
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "upstream-model",
    content: [{ type: "text", text: SAID }],
    stop_reason: "end_turn",
    stop_sequence: null,
    container: { id: "c".repeat(2000) },
  },
  genai: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: SAID }] }, finishReason: "STOP" }],
    modelVersion: "v".repeat(2000),
  },
  responses: { ...responsesAnswer(SAID, undefined), metadata: { noise: "n".repeat(2000) } },
};

const HALVES = [SAID.slice(0, 60), SAID.slice(60)] as const;

function responsesStream(): string {
  const script = new ResponsesScript();
  return [
    script.begin(),
    ...HALVES.map((half) => script.delta(half)),
    script.close(),
    script.completed(undefined),
  ].join("");
}

const genaiChunk = (text: string, finishReason?: string) =>
  `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason }] })}\n\n`;

/** The same streamed. */
const STREAMS = {
  chat: HALVES.map((content) => wire.chatChunk({ content })).join("") + wire.chatChunk({}, "stop") + wire.done,
  messages: wire.messageStart({}) + wire.textBlock(...HALVES) + wire.messageEnd({}),
  genai: genaiChunk(HALVES[0]) + genaiChunk(HALVES[1], "STOP"),
  responses: responsesStream(),
};

const PAIRS = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));

/** The usage of a non-streamed response or of the last event of a stream. */
function shownUsage(text: string): unknown {
  const last = text.match(/^data: (.*"response\.completed".*)$/m)?.[1] ?? text;
  const answer = JSON.parse(last) as { usage?: object; response?: { usage?: object } };
  return (answer.response ?? answer).usage;
}

describe("H06, decision 0017: a response without usage is estimated from its text, four characters a token", () => {
  test.each(PAIRS)("a %s client, a %s host", async (client, host) => {
    upstream.play((_request, response) => void sendJson(response, ANSWERS[host]));
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    expect(response.status).toBe(200);
    const shown = shownUsage(await response.text());
    const receipt = await gateway.receipt(response);
    expect(receipt).toMatchObject({ usage: { output: 30 }, usage_source: "estimated" });
    // Clients see what is billed.
    if (client === "responses" || (client === "messages" && host !== "messages"))
      expect(shown).toMatchObject({ input_tokens: receipt.usage["input"], output_tokens: 30 });
  });

  test.each(PAIRS)("a %s client, a stream of a %s host", async (client, host) => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(STREAMS[host]);
    });
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
    expect(response.status).toBe(200);
    const text = await response.text();
    const receipt = await gateway.receipt(response);
    expect(receipt).toMatchObject({ usage: { output: 30 }, usage_source: "estimated" });
    if (client === "responses")
      expect(shownUsage(text)).toMatchObject({ input_tokens: receipt.usage["input"], output_tokens: 30 });
  });

  test.each([
    ["chat", { prompt_tokens: 10, total_tokens: 10 }],
    ["responses", { input_tokens: 10, total_tokens: 10 }],
  ] as const)("a %s host that counts only the prompt is still billed for its response", async (dialect, usage) => {
    upstream.play((_request, response) => void sendJson(response, plainAnswer(dialect, { text: SAID, usage })));
    const whole = await callGateway(gateway.url, dialect, gateway.key);
    await whole.text();
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(plainStream(dialect, HALVES, usage));
    });
    const streamed = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
    await streamed.text();
    for (const response of [whole, streamed]) {
      expect(await gateway.receipt(response)).toMatchObject({
        usage: { input: 10, output: 30 },
        usage_source: "estimated",
        cost_nano_usd: 10 * 1_000 + 30 * 2_000,
      });
    }
  });
});

describe("H06, H21: impossible counts are ignored", () => {
  test.each([
    ["chat", { prompt_tokens: 1e308, completion_tokens: 1e308 }],
    ["chat", { prompt_tokens: -5, completion_tokens: -7 }],
    ["chat", { prompt_tokens: 10, completion_tokens: 1e12, total_tokens: 10 }],
    ["responses", { input_tokens: 1e308, output_tokens: 1e308 }],
    ["responses", { input_tokens: -5, output_tokens: -7 }],
    ["responses", { input_tokens: 10, output_tokens: 1e12, total_tokens: 10 }],
  ] as const)("a %s host: %j", async (host, usage) => {
    upstream.play((_request, response) => void sendJson(response, plainAnswer(host, { text: SAID, usage })));
    const body = { usage: { include: true } };
    const response = await callGateway(gateway.url, "chat", gateway.key, { model: `test/${host}`, body });
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    const receipt = await gateway.receipt(response);
    expect(receipt).toMatchObject({ usage: { output: 30 }, usage_source: "estimated" });
    expect(receipt.cost_nano_usd).toBeLessThan(1_000_000);
  });

  test.each([
    ["chat", { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: -100 } }],
    ["responses", { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: -100 } }],
  ] as const)("a negative cache count of a %s host", async (host, usage) => {
    upstream.play((_request, response) => void sendJson(response, plainAnswer(host, { text: SAID, usage })));
    const response = await callGateway(gateway.url, host, gateway.key);
    await response.text();
    expect(await gateway.receipt(response)).toMatchObject({ usage: { input: 10, cache_read: null, output: 5 } });
  });
});

describe("H16, choices 4: an invalid response is the provider's failure, even if its status says success", () => {
  const words = { chat: "choices", messages: "content", genai: "candidates", responses: "output" };
  test.each(PAIRS)("a %s client, a %s host", async (client, host) => {
    upstream.play((_request, response) => void sendJson(response, { detail: "model not loaded" }));
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    expect(response.status).toBe(502);
    const text = await response.text();
    if (client === host) expect(text).toContain(words[host]);
    expect(upstream.seen).toHaveLength(2);
    expect(await gateway.receipt(response)).toMatchObject({ usage: { output: null }, cost_nano_usd: 0 });
  });
});
