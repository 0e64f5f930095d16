import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";

const LIMITED_KEYS = {
  day: { budget_usd_per_day: 0 },
  month: { budget_usd_per_month: 0 },
  total: { budget_usd_total: 0 },
  tokens: { tokens_per_minute: 100 },
  requests: { requests_per_minute: 100 },
};
const keyOf = (name: string) => `a-key-of-the-configuration-${name}`;

let harness: Harness;
const logged: string[] = [];
beforeAll(async () => {
  const config = scriptedModels(UPSTREAM_URL, { first_byte: 60_000, idle: 30_000 }) as {
    providers: Record<string, object>;
    models: { id: string; pricings: object; offers: { provider: string; model: string }[] }[];
  };
  const [chat] = config.models;
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  harness = await Harness.start({
    config: {
      ...config,
      keys: [
        { name: "tests", key: TEST_KEY },
        ...Object.entries(LIMITED_KEYS).map(([name, limits]) => ({ name, key: keyOf(name), limits })),
      ],
      models: [
        ...config.models,
        { ...chat, id: "test/unlimited", max_output_tokens: undefined },
        {
          ...chat,
          id: "test/dear",
          pricings: {
            prompt: price(1),
            input_cache_write_5_min: price(3),
            input_cache_write_1_h: price(5),
            completion: price(2),
            internal_reasoning: price(10),
          },
          price_multiples: { priority: 2, flex: 0.5 },
        },
        {
          ...chat,
          id: "test/two",
          offers: [
            { provider: "up-chat", model: "upstream-model" },
            { provider: "up-messages", model: "upstream-model", pricings: { prompt: price(1), completion: price(20) } },
          ],
        },
      ],
    },
    onLog: (line) => logged.push(line),
  });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

const answer = (content: string, usage?: object) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage,
});
const reported = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

/** The receipt of a non-streamed response that takes a second. */
async function receiptOfWhole(content: string, usage?: object) {
  harness.upstream.play(async (reply) => {
    await harness.clock.sleep(1_000);
    reply.head();
    void reply.write(JSON.stringify(answer(content, usage)));
    reply.end();
  });
  return await harness.receipt(await harness.call("chat"));
}

describe("a non-streamed response", () => {
  test("H06: costs what its provider reports", async () => {
    expect(await receiptOfWhole("hi", reported(10, 7))).toMatchObject({
      usage: { input: 10, output: 7 },
      usage_source: "measured",
      cost_nano_usd: 10 * 1_000 + 7 * 2_000,
      stop: { unified: "stop" },
      offers: [{ provider: "up-chat", outcome: "answered", ms: 1_000 }],
      first_content_ms: 1_000,
      total_ms: 1_000,
    });
  });

  test("H27: is counted here if its provider reports nothing, and marked as such", async () => {
    expect(await receiptOfWhole("x".repeat(400))).toMatchObject({
      usage: { output: 100 },
      usage_source: "estimated",
    });
  });

  test("H27: is counted here if its provider reports the impossible, and the log names the provider", async () => {
    logged.length = 0;
    const receipt = await receiptOfWhole("x".repeat(40_000), reported(10, 1));
    expect(receipt).toMatchObject({ usage: { input: 10, output: 10_000 }, usage_source: "estimated" });
    await harness.clock.pass(1_000);
    expect(logged.filter((line) => line.includes("implausible usage") && line.includes("up-chat"))).toHaveLength(1);
    // Up to 256 characters a token there may be, and an answer has words around its text.
    expect(await receiptOfWhole("x".repeat(2_560), reported(10, 10))).toMatchObject({ usage: { output: 10 } });
    expect(await receiptOfWhole("x".repeat(2_561), reported(10, 10))).toMatchObject({ usage: { output: 10 } });
    expect(await receiptOfWhole("x".repeat(7_000), reported(10, 10))).toMatchObject({ usage: { output: 1_750 } });
  });

  test("costs nothing if no offer answered", async () => {
    harness.upstream.play(harness.upstream.json({ error: { message: "no" } }, 400));
    const refused = await harness.call("chat");
    expect(await harness.receipt(refused)).toMatchObject({ usage: { input: null, output: null }, cost_nano_usd: 0 });
  });
});

test("a stream that arrives whole, in one read, is billed and timed like any other", async () => {
  const { upstream } = harness;
  const whole =
    wire.chatChunk({ content: "hi" }) + wire.chatChunk({}, "stop") + wire.chatUsage(reported(10, 7)) + wire.done;
  upstream.play(async (reply) => {
    await harness.clock.sleep(1_000);
    await upstream.stream(whole)(reply, upstream.requests[0] as never);
  });
  const given = await harness.call("chat", { stream: true });
  expect(given.text).toEndWith(wire.done);
  expect(await harness.receipt(given)).toMatchObject({
    usage: { input: 10, output: 7 },
    usage_source: "measured",
    first_content_ms: 1_000,
    total_ms: 1_000,
    stop: { unified: "stop" },
  });
});

test("a connection that a host keeps open after a complete response is closed a second later", async () => {
  const { clock, upstream } = harness;
  upstream.play(upstream.openStream(wire.chatChunk({ content: "hi" }) + wire.chatChunk({}, "stop") + wire.done));
  expect((await harness.call("chat", { stream: true })).text).toEndWith(wire.done);
  expect(upstream.open).toBe(1);
  await clock.pass(1_300);
  expect(upstream.open).toBe(0);
});

test("S16: once a call is settled, its connection may be closed for silence again", async () => {
  harness.upstream.play(async (reply) => {
    await harness.clock.sleep(1_000);
    harness.upstream.json(answer("hi", reported(10, 7)))(reply, harness.upstream.requests[0] as never);
  });
  const call = harness.send("chat");
  await harness.clock.pass(500);
  expect(call.connection).toMatchObject({ held: true, rested: false });
  await harness.clock.until(call.answer);
  expect(call.connection.rested).toBe(true);
});

describe("H14, H26: a response whose client disconnects", () => {
  const { readOnMs } = DEFAULT_TIMINGS;
  const left = async (afterMs: number, options: CallOptions, ...steps: (string | number)[]) => {
    const { clock, upstream } = harness;
    upstream.play(upstream.openStream(...steps));
    const call = harness.send("chat", { stream: true, ...options });
    await clock.pass(afterMs);
    call.disconnect();
    await clock.pass(readOnMs + 300);
    const [receipt] = (await harness.receipts()).slice(-1);
    if (receipt === undefined) throw new Error("no receipt");
    return receipt;
  };
  const said = wire.chatChunk({ content: "x".repeat(400) });

  test("costs what its time allows, if nothing of it arrived", async () => {
    const { usage, usage_source, total_ms, first_content_ms, offers } = await left(3_000, {});
    expect([usage_source, first_content_ms]).toEqual(["partial", null]);
    expect(total_ms).toBeWithin(3_000 + readOnMs, 3_000 + readOnMs + 300);
    expect(usage).toMatchObject({ output: 0, reasoning: Math.ceil((total_ms / 1_000) * 250) });
    expect(usage["input"]).toBeGreaterThan(0);
    expect(offers.map(({ outcome }) => outcome)).toEqual(["abandoned"]);
  });

  test("costs no more than its maximum", async () => {
    const { usage } = await left(3_000, { body: { max_completion_tokens: 50 } });
    expect(usage).toMatchObject({ output: 0, reasoning: 50 });
  });

  test("costs what arrived, and the requested thinking that was not shown", async () => {
    const { usage, usage_source, first_content_ms } = await left(
      5_000,
      { body: { reasoning_effort: "low" } },
      1_000,
      said,
    );
    expect([usage_source, first_content_ms]).toEqual(["partial", 1_000]);
    expect(usage).toMatchObject({ output: 100, reasoning: 2_048 });
  });

  test("costs what its provider reports, if stop and usage had arrived", async () => {
    const end = wire.chatChunk({}, "stop") + wire.chatUsage(reported(10, 120));
    const { usage, usage_source, stop } = await left(2_000, {}, 1_000, said, 1_500, end);
    expect([usage_source, stop?.unified]).toEqual(["measured", "stop"]);
    expect(usage).toMatchObject({ input: 10, output: 120 });
  });

  test("a response that breaks off costs what arrived, and nothing unseen", async () => {
    const { upstream } = harness;
    upstream.play(upstream.brokenStream(1_000, said));
    const { usage, usage_source } = await harness.receipt(await harness.call("chat", { stream: true }));
    expect([usage_source, usage["output"], usage["reasoning"]]).toEqual(["partial", 100, null]);
  });
});

describe("H23: the maximum cost of a call is known before it is made", () => {
  /** The possible cost of a call, as reported to a key without money, in millionths of a dollar. */
  const mayCost = async (options: CallOptions & { limit?: keyof typeof LIMITED_KEYS } = {}) => {
    const { limit = "total", ...call } = options;
    harness.upstream.play(harness.upstream.json(answer("hi", reported(1, 1))));
    const refused = await harness.call("chat", { key: keyOf(limit), ...call });
    const { message } = errorIn(refused);
    const [, cost] = /this call may cost up to (\S+) USD\.(?:\s|$)/.exec(message) ?? [];
    return { status: refused.status, microUsd: Math.round(Number(cost) * 1e6), message };
  };
  /** The part of it that is the prompt, which is the same in all of these calls. */
  const prompt = async () => (await mayCost({ body: { max_completion_tokens: 1 } })).microUsd - 2;

  test.each(["day", "month", "total"] as const)("whatever the budget applies to: a %s", async (limit) => {
    const { status, microUsd } = await mayCost({ limit, body: { max_completion_tokens: 1_000 } });
    expect([status, microUsd]).toEqual([402, (await prompt()) + 2_000]);
  });

  test("the output limit counts, else a usual one", async () => {
    const base = await prompt();
    expect(base).toBeGreaterThan(0);
    const open = await mayCost();
    expect(open.microUsd).toBe(base + 4_096 * 2);
    expect(open.message).toContain("Set an output token limit in the request to lower this.");
    expect((await mayCost({ body: { max_completion_tokens: 1_000 } })).message).not.toContain(
      "Set an output token limit",
    );
    // If the model has no limit either, the maximum is unknown.
    expect((await mayCost({ model: "test/unlimited" })).message).not.toContain("Set an output token limit");
  });

  test("of prices and terms the most expensive counts; of several offers each has its own, and the first is named (H58)", async () => {
    const base = await prompt();
    expect((await mayCost({ model: "test/two", body: { max_completion_tokens: 1_000 } })).microUsd).toBe(base + 2_000);
    const dear = (await mayCost({ model: "test/dear", body: { max_completion_tokens: 1_000 } })).microUsd;
    expect(dear).toBe(5 * base + 10_000);
    const tier = async (service_tier: string) =>
      (await mayCost({ model: "test/dear", door: "dropin", body: { max_completion_tokens: 1_000, service_tier } }))
        .microUsd;
    expect(await tier("priority")).toBe(2 * dear);
    expect(await tier("flex")).toBe(dear);
  });

  test("tokens a minute: a response without a limit is not refused by a guess, one with a limit is by that limit", async () => {
    harness.upstream.play(harness.upstream.json(answer("hi", reported(30, 20))));
    const asked = await harness.call("chat", { key: keyOf("tokens"), body: { max_completion_tokens: 4_000 } });
    expect(asked.status).toBe(429);
    expect(errorIn(asked).message).toMatch(
      /may use 100 tokens a minute, has used about 0, and this call may need 40\d\d\./,
    );
    const open = await harness.call("chat", { key: keyOf("tokens") });
    expect(open.status).toBe(200);
    // It used fifty in the end, and a non-streamed response reports what is left then.
    expect(open.headers.get("x-ratelimit-remaining-tokens")).toBe("50");
    // The headers of a stream are sent before its usage is known: it may need ten and its prompt.
    harness.upstream.play(async (reply) => {
      reply.head(200, { "content-type": "text/event-stream" });
      void reply.write(wire.chatChunk({ content: "hi" }));
      await harness.clock.sleep(1_000);
      void reply.write(wire.chatChunk({}, "stop") + wire.done);
      reply.end();
    });
    const body = { max_completion_tokens: 10 };
    const next = await harness.call("chat", { key: keyOf("tokens"), stream: true, body });
    expect(Number(next.headers.get("x-ratelimit-remaining-tokens"))).toBe(100 - 50 - 10 - (await prompt()));
  });

  test("H23: a prompt in another script is weighed by its bytes, small or large, and however it is encoded", async () => {
    harness.upstream.play(harness.upstream.json(answer("hi", reported(1, 1))));
    const needed = async (characters: number, write: (text: string) => string) => {
      const content = write(JSON.stringify("\u6f22".repeat(characters)));
      const body = `{"model":"test/chat","max_completion_tokens":1,"messages":[{"role":"user","content":${content}}]}`;
      const sent = harness.sendRaw("/api/v1/chat/completions", body, {
        authorization: `Bearer ${keyOf("tokens")}`,
        "content-type": "application/json",
      });
      const { message } = errorIn(await harness.clock.until(sent.answer));
      return Number(/this call may need (\d+)\./.exec(String(message))?.[1]);
    };
    const escaped = (text: string) => text.replaceAll("\u6f22", "\\u6f22");
    for (const characters of [300, 20_000]) {
      const plain = await needed(characters, (text) => text);
      expect(plain).toBeGreaterThan(characters);
      expect(plain).toBeLessThan(characters + 50);
      expect(await needed(characters, escaped)).toBe(plain);
    }
  });

  test("a limit of requests only needs no guess", async () => {
    harness.upstream.play(harness.upstream.json(answer("hi", reported(1, 1))));
    const { status, headers } = await harness.call("chat", {
      key: keyOf("requests"),
      body: { max_completion_tokens: 8_192 },
    });
    expect([status, headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "99"]);
  });
});
