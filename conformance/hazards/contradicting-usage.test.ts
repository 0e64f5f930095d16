import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { plainAnswer, plainStream } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { responsesUsage } from "../../testing/wires/responses-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const { upstream, gateway } = await scriptedHarness((url) => {
  const { models, providers } = modelsOfEveryDialect(url) as { models: object[]; providers: object };
  const timeout_ms = { first_byte: 3000, idle: 1500 };
  return {
    config: {
      providers: {
        ...providers,
        "up-apart": { kind: "x-ai", base_url: `${url}/v1`, api_key: "k".repeat(20), timeout_ms },
      },
      models: [
        ...models,
        {
          id: "test/apart",
          pricings: {},
          offers: [{ provider: "up-apart", model: "upstream-model", dialect: "chat" }],
        },
        {
          id: "test/audio",
          pricings: { prompt: price(1), completion: price(2), audio: price(7) },
          offers: [{ provider: "up-genai", model: "upstream-model" }],
        },
      ],
    },
  };
});

const FIRST = {
  input_tokens: 12,
  output_tokens: 1,
  cache_creation_input_tokens: 10_345,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};

describe("H27, contract 2.11: no written token is lost between a total and its split", () => {
  test.each(SCRIPTED_DIALECTS)("a %s client, a non-streamed response", async (client) => {
    upstream.play((_request, response) => {
      const content = [{ type: "text", text: "hi" }];
      sendJson(response, {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content,
        stop_reason: "end_turn",
        usage: FIRST,
      });
    });
    const response = await callGateway(gateway.url, client, gateway.key, { model: "test/messages" });
    const answer = (await response.json()) as { usage?: object };
    expect(await gateway.receipt(response)).toMatchObject({
      usage: { input: 12, cache_write_5m: 10_345, output: 1 },
      cost_nano_usd: (12 + 10_345) * 1_000 + 2_000,
    });
    if (client === "responses")
      expect(answer.usage).toMatchObject({
        input_tokens: 10_357,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 10_345 },
        output_tokens: 1,
        total_tokens: 10_358,
      });
    if (client !== "messages") return;
    expect(answer.usage).toMatchObject({
      cache_creation_input_tokens: 10_345,
      cache_creation: { ephemeral_5m_input_tokens: 10_345, ephemeral_1h_input_tokens: 0 },
    });
  });

  test.each(SCRIPTED_DIALECTS)(
    "a %s client, a stream whose end reports another total than its beginning",
    async (client) => {
      upstream.play((_request, response) => {
        startEvents(response);
        const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 40 };
        response.write(wire.messageStart({ ...FIRST, cache_creation_input_tokens: 140, cache_creation }));
        response.end(wire.textBlock("hi") + wire.messageEnd({ output_tokens: 7, cache_creation_input_tokens: 10_345 }));
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: "test/messages", stream: true });
      const text = await response.text();
      expect(await gateway.receipt(response)).toMatchObject({
        usage: { input: 12, cache_write_5m: 10_305, cache_write_1h: 40, output: 7 },
        usage_source: "measured",
      });
      if (client !== "messages") return;
      const last = JSON.parse(text.match(/data: (.*"message_delta".*)/)?.[1] ?? "") as { usage: object; delta: object };
      const usage = {
        cache_creation_input_tokens: 10_345,
        cache_creation: { ephemeral_5m_input_tokens: 10_305, ephemeral_1h_input_tokens: 40 },
      };
      expect(last).toMatchObject({ usage, delta: { usage } });
    },
  );
});

describe("H27: reasoning that a host reports separately from its completion is billed in addition", () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 52,
    total_tokens: 61,
    completion_tokens_details: { reasoning_tokens: 20 },
  };
  const ways = SCRIPTED_DIALECTS.flatMap((client) => [false, true].map((stream) => [client, stream] as const));
  test.each(ways)("a %s client, stream: %p", async (client, stream) => {
    upstream.play((_request, response) => {
      if (!stream) {
        const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
        sendJson(response, { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
        return;
      }
      startEvents(response);
      response.end(wire.chatChunk({ content: "hi" }) + wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done);
    });
    const response = await callGateway(gateway.url, client, gateway.key, { model: "test/apart", stream });
    await response.text();
    expect(await gateway.receipt(response)).toMatchObject({ usage: { input: 9, output: 52, reasoning: 20 } });
  });
});

test.each(SCRIPTED_DIALECTS)("contract 2.9: audio in a prompt has its own price: a %s client", async (client) => {
  const usage = {
    promptTokenCount: 1_000,
    candidatesTokenCount: 10,
    totalTokenCount: 1_010,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 100 },
      { modality: "AUDIO", tokenCount: 900 },
    ],
  };
  upstream.play((_request, response) => {
    const candidates = [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }];
    sendJson(response, { candidates, usageMetadata: usage });
  });
  const response = await callGateway(gateway.url, client, gateway.key, { model: "test/audio" });
  const answer = (await response.json()) as { usage?: { prompt_tokens?: number; input_tokens?: number } };
  expect(answer.usage?.prompt_tokens ?? answer.usage?.input_tokens ?? 1_000).toBe(1_000);
  expect(await gateway.receipt(response)).toMatchObject({
    usage: { input: 100, audio_input: 900, output: 10 },
    cost_nano_usd: 100 * 1_000 + 900 * 7_000 + 10 * 2_000,
  });
});

describe("H06, H27: an impossible usage is not billed as reported", () => {
  const SAID = "word ".repeat(800);
  const chat = (usage: object, stream: boolean) => (response: ServerResponse) => {
    if (!stream) {
      const choices = [{ index: 0, message: { role: "assistant", content: SAID }, finish_reason: "stop" }];
      sendJson(response, { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
      return;
    }
    startEvents(response);
    response.end(wire.chatChunk({ content: SAID }) + wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done);
  };
  const messages = (usage: object, stream: boolean) => (response: ServerResponse) => {
    if (!stream) {
      const content = [{ type: "text", text: SAID }];
      const answer = { id: "msg_1", type: "message", role: "assistant", model: "m", content, stop_reason: "end_turn" };
      sendJson(response, { ...answer, usage });
      return;
    }
    startEvents(response);
    response.end(wire.messageStart(usage) + wire.textBlock(SAID) + wire.messageEnd(usage));
  };
  const genai = (usage: object, stream: boolean) => (response: ServerResponse) => {
    const content = { role: "model", parts: [{ text: SAID }] };
    if (!stream) {
      sendJson(response, { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata: usage });
      return;
    }
    startEvents(response);
    response.end(wire.genaiChunk(SAID, undefined, usage) + wire.genaiChunk("", "STOP", usage));
  };
  const responses = (usage: object, stream: boolean) => (response: ServerResponse) => {
    if (!stream) return void sendJson(response, plainAnswer("responses", { text: SAID, usage }));
    startEvents(response);
    response.end(plainStream("responses", [SAID.slice(0, 400), SAID.slice(400)], usage));
  };
  const NOTHING = {
    chat: chat.bind(undefined, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    messages: messages.bind(undefined, { input_tokens: 0, output_tokens: 0 }),
    genai: genai.bind(undefined, { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }),
    responses: responses.bind(undefined, responsesUsage(0, 0)),
  };
  const ways = SCRIPTED_DIALECTS.flatMap((client) =>
    SCRIPTED_DIALECTS.flatMap((host) => [false, true].map((stream) => [client, host, stream] as const)),
  );

  test.each(ways)(
    "all zero with 4,000 characters: a %s client, a %s host, stream: %p",
    async (client, host, stream) => {
      upstream.play((_request, response) => NOTHING[host](stream)(response));
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream });
      await response.text();
      const receipt = await gateway.receipt(response);
      expect(receipt).toMatchObject({ usage: { output: 1_000 }, usage_source: "estimated" });
      expect(receipt.usage["input"]).toBeGreaterThan(0);
    },
  );

  const CACHED = {
    chat: chat.bind(undefined, {
      prompt_tokens: 10,
      completion_tokens: 900,
      total_tokens: 910,
      prompt_tokens_details: { cached_tokens: 1_000_000 },
    }),
    responses: responses.bind(undefined, {
      ...responsesUsage(10, 900),
      input_tokens_details: { cached_tokens: 1_000_000 },
    }),
  };
  test.each([
    ["chat", "chat", false],
    ["chat", "chat", true],
    ["responses", "responses", false],
    ["responses", "responses", true],
    ["responses", "chat", true],
    ["chat", "responses", true],
  ] as const)("a million cached tokens out of ten: a %s client, a %s host, stream %p", async (client, host, stream) => {
    upstream.play((_request, response) => CACHED[host](stream)(response));
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream });
    await response.text();
    const receipt = await gateway.receipt(response);
    // More than the model's context: an estimate of what was sent is billed.
    expect(receipt).toMatchObject({ usage: { cache_read: null, output: 900 }, usage_source: "estimated" });
    expect(receipt.usage["input"]).toBeLessThan(50);
  });
});
