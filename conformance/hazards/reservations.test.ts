import { expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, sleep } from "../support/scripted-upstream.ts";

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
const BUDGET_USD = 5;

const { upstream, gateway } = await scriptedHarness((url) => {
  const { models, providers } = scriptedModels(url) as { models: object[]; providers: object };
  const cached = {
    id: "test/cached",
    context_length: 200_000,
    max_output_tokens: 1000,
    pricings: { prompt: price(100), completion: price(100), input_cache_write: price(200) },
    offers: [{ provider: "up-chat", model: "upstream-model" }],
  };
  return {
    config: {
      providers,
      models: [...models, cached],
      keys: [
        { name: "poor", key: keyOf("Poor"), limits: { budget_usd_per_day: 0.000_001 } },
        { name: "slow", key: keyOf("Slow"), limits: { tokens_per_minute: 3000 } },
        { name: "answers", key: keyOf("Answers"), limits: { budget_usd_per_day: 0.05 } },
        { name: "open", key: keyOf("Open"), limits: { budget_usd_per_day: 0.02 } },
        { name: "few", key: keyOf("Few"), limits: { budget_usd_per_day: BUDGET_USD } },
      ],
    },
  };
});

const answer = (usage: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage,
});

test("H11, decision 0006: counting tokens costs nothing, and so is refused to no budget", async () => {
  const headers = { authorization: `Bearer ${keyOf("Poor")}`, "content-type": "application/json" };
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hello" }] }] });
  const url = `${gateway.url}/api/genai/v1beta/models/test/chat:countTokens`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  expect((await callGateway(gateway.url, "chat", keyOf("Poor"))).status).toBe(402);
});

test("choices 5: a call that names no limit may have what its key has left in the minute", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  upstream.play((_request, response) => void sendJson(response, answer(usage)));
  expect((await callGateway(gateway.url, "chat", keyOf("Slow"))).status).toBe(200);
  const body = { max_completion_tokens: 4000 };
  expect((await callGateway(gateway.url, "chat", keyOf("Slow"), { body })).status).toBe(429);
});

test("H23: calls at once do not overdraw a budget, though their prompts come to stand in a cache", async () => {
  const prompt = 10_000;
  upstream.play(async (_request, response) => {
    await sleep(300);
    const prompt_tokens_details = { cached_tokens: 0, cache_write_tokens: prompt };
    sendJson(response, answer({ prompt_tokens: prompt, completion_tokens: 10, prompt_tokens_details }));
  });
  const body = { max_completion_tokens: 10, messages: [{ role: "user", content: "abcd".repeat(prompt) }] };
  const calls = Array.from({ length: 20 }, async () => {
    const response = await callGateway(gateway.url, "chat", keyOf("Few"), { model: "test/cached", body });
    await response.text();
    return response.status;
  });
  const served = (await Promise.all(calls)).filter((status) => status === 200).length;
  expect(served).toBeGreaterThan(0);
  expect((served * prompt * 200) / 1_000_000).toBeLessThanOrEqual(BUDGET_USD);
});

test("H23: calls at once that name no limit do not overdraw a budget by what the model can write", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 8_192, total_tokens: 8_202 };
  upstream.play(async (_request, response) => {
    await sleep(300);
    sendJson(response, answer(usage));
  });
  const call = async () => {
    const response = await callGateway(gateway.url, "chat", keyOf("Open"));
    const retry = [response.headers.get("x-should-retry"), response.headers.get("retry-after")];
    return { status: response.status, text: await response.text(), retry };
  };
  // 8,192 tokens at 2 USD a million: 0.0164. The usual 4,096 would let two calls in.
  const answers = await Promise.all(Array.from({ length: 6 }, call));
  const refused = answers.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(5);
  expect(refused[0]?.text).toContain("A limit of the answer's tokens in the request makes that less.");
  // Only the call under way is in the way: SDKs may try again, as the text says.
  expect(refused[0]?.text).toContain("Try again when some of them have ended.");
  for (const { retry } of refused) expect(retry).toEqual(["true", "2"]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("H23: each of the answers that are asked for is reserved, and no more than 8 may be (contract 2.6)", async () => {
  const usage = { promptTokenCount: 5, candidatesTokenCount: 8_000, totalTokenCount: 8_005 };
  upstream.play((_request, response) => {
    const candidate = { content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" };
    sendJson(response, { candidates: [{ index: 0, ...candidate }], usageMetadata: usage });
  });
  const asked = (candidateCount: number) =>
    callGateway(gateway.url, "genai", keyOf("Answers"), {
      body: { generationConfig: { candidateCount, maxOutputTokens: 4_000 } },
    });
  // 8 × 4,000 tokens at 2 USD a million are more than the budget, 1 × 4,000 are not.
  const refused = await asked(8);
  expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"]);
  expect(upstream.seen).toHaveLength(0);
  expect((await asked(1)).status).toBe(200);
  for (const count of [9, 1_000_000, 0]) {
    const response = await asked(count);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("generationConfig.candidateCount");
  }
  expect(upstream.seen).toHaveLength(1);
});
