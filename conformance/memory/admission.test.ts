import { beforeAll, describe, expect, test } from "bun:test";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
const BUDGET_USD = 5;

let harness: Harness;
beforeAll(async () => {
  const { models, providers } = scriptedModels(UPSTREAM_URL) as { models: object[]; providers: object };
  const cached = {
    id: "test/cached",
    context_length: 200_000,
    max_output_tokens: 1000,
    pricings: { prompt: price(100), completion: price(100), input_cache_write: price(200) },
    offers: [{ provider: "up-chat", model: "upstream-model" }],
  };
  harness = await Harness.start({
    config: {
      providers,
      models: [...models, cached],
      keys: [
        { name: "poor", key: keyOf("Poor"), limits: { budget_usd_per_day: 0.000_001 } },
        { name: "slow", key: keyOf("Slow"), limits: { tokens_per_minute: 3000 } },
        { name: "answers", key: keyOf("Answers"), limits: { budget_usd_per_day: 0.05 } },
        { name: "open", key: keyOf("Open"), limits: { budget_usd_per_day: 0.02 } },
        { name: "few", key: keyOf("Few"), limits: { budget_usd_per_day: BUDGET_USD } },
        { name: "seldom", key: keyOf("Seldom"), limits: { requests_per_minute: 3 } },
        { name: "narrow", key: keyOf("Narrow"), limits: { concurrent: 2 } },
        { name: "daily", key: keyOf("Daily"), limits: { budget_usd_per_day: 0.000_05 } },
      ],
    },
  });
});

const answer = (usage: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage,
});

/** An upstream that takes its time over each response. */
const answersLater = (value: object) =>
  harness.upstream.play(async (reply, request) => {
    await harness.clock.sleep(300);
    await harness.upstream.json(value)(reply, request);
  });

/** Calls that are all in flight before one of them is answered. */
const atOnce = (count: number, options: CallOptions) =>
  harness.clock.until(Promise.all(Array.from({ length: count }, () => harness.send("chat", options).answer)));

test("H11, decision 0017: counting tokens is free, so no budget refuses it", async () => {
  const key = keyOf("Poor");
  const body = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };
  expect((await harness.post("/api/genai/v1beta/models/test/chat:countTokens", body, key)).status).toBe(200);
  expect((await harness.call("chat", { key })).status).toBe(402);
});

test("choices 5: a call without a limit may use what its key has left in the minute", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  harness.upstream.play(harness.upstream.json(answer(usage)));
  const key = keyOf("Slow");
  expect((await harness.call("chat", { key })).status).toBe(200);
  expect((await harness.call("chat", { key, body: { max_completion_tokens: 4000 } })).status).toBe(429);
});

test("H23: concurrent calls do not overdraw a budget, even if their prompts are written to a cache", async () => {
  const prompt = 10_000;
  const prompt_tokens_details = { cached_tokens: 0, cache_write_tokens: prompt };
  answersLater(answer({ prompt_tokens: prompt, completion_tokens: 10, prompt_tokens_details }));
  const body = { max_completion_tokens: 10, messages: [{ role: "user", content: "abcd".repeat(prompt) }] };
  const answers = await atOnce(20, { key: keyOf("Few"), model: "test/cached", body });
  const served = answers.filter(({ status }) => status === 200).length;
  expect(served).toBeGreaterThan(0);
  expect((served * prompt * 200) / 1_000_000).toBeLessThanOrEqual(BUDGET_USD);
});

test("H23: concurrent calls without a limit do not overdraw a budget by what the model can write", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 8_192, total_tokens: 8_202 };
  answersLater(answer(usage));
  // 8,192 tokens at 2 USD a million: 0.0164. The usual 4,096 would let two calls in.
  const answers = await atOnce(6, { key: keyOf("Open") });
  const refused = answers.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(5);
  expect(refused[0]?.text).toContain("Set an output token limit in the request to lower this.");
  // Only the call under way is in the way: SDKs may try again, as the text says.
  expect(refused[0]?.text).toContain("Retry when calls in flight have finished.");
  for (const { headers } of refused)
    expect([headers.get("x-should-retry"), headers.get("retry-after")]).toEqual(["true", "2"]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("H23: each requested choice is reserved, and at most 8 are allowed (contract 2.6)", async () => {
  const usage = { promptTokenCount: 5, candidatesTokenCount: 8_000, totalTokenCount: 8_005 };
  const candidate = { content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" };
  harness.upstream.play(harness.upstream.json({ candidates: [{ index: 0, ...candidate }], usageMetadata: usage }));
  const asked = (candidateCount: number) =>
    harness.call("genai", {
      key: keyOf("Answers"),
      body: { generationConfig: { candidateCount, maxOutputTokens: 4_000 } },
    });
  // 8 × 4,000 tokens at 2 USD a million are more than the budget, 1 × 4,000 are not.
  const refused = await asked(8);
  expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"]);
  expect(harness.upstream.requests).toHaveLength(0);
  expect((await asked(1)).status).toBe(200);
  for (const count of [9, 1_000_000, 0]) {
    const response = await asked(count);
    expect(response.status).toBe(400);
    expect(response.text).toContain("generationConfig.candidateCount");
  }
  expect(harness.upstream.requests).toHaveLength(1);
});

describe("rates and concurrency over time", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

  test("H23: a limited number of requests a minute, and again when the minute is over", async () => {
    harness.upstream.play(harness.upstream.json(answer(usage)));
    const key = keyOf("Seldom");
    const statuses = async (count: number) => {
      const all: number[] = [];
      for (let call = 0; call < count; call++) all.push((await harness.call("chat", { key })).status);
      return all;
    };
    expect(await statuses(5)).toEqual([200, 200, 200, 429, 429]);
    const refused = await harness.call("chat", { key });
    const waitMs = Number(refused.headers.get("retry-after")) * 1000;
    expect(waitMs).toBeWithin(1_000, 60_001);
    await harness.clock.pass(waitMs);
    expect(await statuses(1)).toEqual([200]);
  });

  test("H23: a limited number at once, and again when one has ended or its client has disconnected", async () => {
    const key = keyOf("Narrow");
    harness.upstream.play(harness.upstream.openStream());
    const calls = [0, 1].map(() => harness.send("chat", { key, stream: true }));
    await harness.clock.pass(100);
    expect((await harness.call("chat", { key })).status).toBe(429);
    calls[0]?.disconnect();
    await harness.clock.pass(10_000);
    harness.upstream.play(harness.upstream.json(answer(usage)));
    expect((await harness.call("chat", { key })).status).toBe(200);
    calls[1]?.disconnect();
    await harness.clock.pass(10_000);
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, orphanedTexts: 0 });
  });

  test("H23, H30: a daily budget follows the wall clock", async () => {
    const key = keyOf("Daily");
    const body = { max_completion_tokens: 10 };
    harness.upstream.play(harness.upstream.json(answer(usage)));
    const [first, second] = [await harness.call("chat", { key, body }), await harness.call("chat", { key, body })];
    expect([first.status, second.status]).toEqual([200, 402]);
    await harness.clock.pass(24 * 3_600_000);
    expect((await harness.call("chat", { key, body })).status).toBe(200);
  });
});
