import { describe, expect, test } from "bun:test";
import { DIALECTS } from "../../testing/build-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const SAID = "word ".repeat(24);

const chatAnswer = (more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content: SAID }, finish_reason: "stop" }],
  ...more,
});

/** Nothing about usage in any of them; what is not generated text is there to be miscounted. */
const ANSWERS = {
  chat: chatAnswer({ system_fingerprint: "fp_".padEnd(2000, "0") }),
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
};

describe("H06, decision 0006: an answer without usage is estimated by what it says, four characters a token", () => {
  test.each(DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host",
    async (client, host) => {
      upstream.play((_request, response) => void sendJson(response, ANSWERS[host]));
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
      expect(response.status).toBe(200);
      const answer = (await response.json()) as { usage?: { output_tokens?: number } };
      expect(await gateway.receipt(response)).toMatchObject({ usage: { output: 30 }, usage_source: "estimated" });
      // What this protocol's clients are shown, because they cannot do without, is what is billed.
      if (client === "messages" && host !== "messages") expect(answer.usage?.output_tokens).toBe(30);
    },
  );

  test("a host that counts the prompt alone has not answered for nothing", async () => {
    const usage = { prompt_tokens: 10, total_tokens: 10 };
    upstream.play((_request, response) => void sendJson(response, chatAnswer({ usage })));
    const whole = await callGateway(gateway.url, "chat", gateway.key);
    await whole.text();
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(wire.chatChunk({ content: SAID }) + wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done);
    });
    const streamed = await callGateway(gateway.url, "chat", gateway.key, { stream: true });
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

describe("H06, H21: figures that no host can have counted are not taken for counts", () => {
  test.each([
    { prompt_tokens: 1e308, completion_tokens: 1e308 },
    { prompt_tokens: -5, completion_tokens: -7 },
    { prompt_tokens: 10, completion_tokens: 1e12, total_tokens: 10 },
  ])("%j", async (usage) => {
    upstream.play((_request, response) => void sendJson(response, chatAnswer({ usage })));
    const body = { usage: { include: true } };
    const response = await callGateway(gateway.url, "chat", gateway.key, { body });
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    const receipt = await gateway.receipt(response);
    expect(receipt).toMatchObject({ usage: { output: 30 }, usage_source: "estimated" });
    expect(receipt.cost_nano_usd).toBeLessThan(1_000_000);
  });

  test("a cache that gave less than nothing", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: -100 } };
    upstream.play((_request, response) => void sendJson(response, chatAnswer({ usage })));
    const response = await callGateway(gateway.url, "chat", gateway.key);
    await response.text();
    expect(await gateway.receipt(response)).toMatchObject({ usage: { input: 10, cache_read: null, output: 5 } });
  });
});

describe("H16, choices 4: what is no answer is the provider's failure, though its status says success", () => {
  const words = { chat: "choices", messages: "content", genai: "candidates" };
  test.each(DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host",
    async (client, host) => {
      upstream.play((_request, response) => void sendJson(response, { detail: "model not loaded" }));
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
      expect(response.status).toBe(502);
      const text = await response.text();
      if (client === host) expect(text).toContain(words[host]);
      expect(upstream.seen).toHaveLength(2);
      expect(await gateway.receipt(response)).toMatchObject({ usage: { output: null }, cost_nano_usd: 0 });
    },
  );
});
