import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

const MODELS = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 });
const USAGE = plainUsage("chat", 10, 5);
const ANSWER = plainAnswer("chat", { text: "Hello", usage: USAGE });

type Timing = NonNullable<ReceiptData["timing"]>;

/** The parts of a receipt's time. They add up to all of it, and none is negative. */
function timingOf({ timing, total_ms }: ReceiptData): Timing {
  if (timing === null) throw new Error("the receipt has no timing");
  const parts = Object.values(timing);
  expect(parts.reduce((sum, ms) => sum + ms, 0)).toBe(total_ms);
  expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
  return timing;
}

const NOTHING = {
  provider_first_content_ms: 0,
  provider_stream_ms: 0,
  client_ms: 0,
  backoff_ms: 0,
  queue_ms: 0,
  gateway_ms: 0,
};

/** A stream whose first content comes after 300 ms, and its end 1,740 ms later. */
function slowStream(harness: Harness, dialect: DialectName) {
  const frames = plainStream(dialect, ["Hel", "lo"], plainUsage(dialect, 10, 5)).split(/(?<=\n\n)/);
  const first = frames.findIndex((frame) => frame.includes("Hel")) + 1;
  return harness.upstream.stream(300, frames.slice(0, first).join(""), 1_740, frames.slice(first).join(""));
}

describe("choices 6: the receipt shows where the time of a call went", () => {
  test.each(SCRIPTED_DIALECTS)("%s: streaming is the provider's time, not the gateway's", async (dialect) => {
    const harness = await Harness.start({ config: MODELS });
    harness.upstream.play(slowStream(harness, dialect));
    const receipt = await harness.receipt(await harness.call(dialect, { stream: true }));
    expect(timingOf(receipt)).toEqual({ ...NOTHING, provider_first_content_ms: 300, provider_stream_ms: 1_740 });
    expect(receipt.first_content_ms).toBe(300);
  });

  test("a non-streamed response is all waiting for its first content", async () => {
    const harness = await Harness.start({ config: MODELS });
    harness.upstream.play(async (reply) => {
      await harness.clock.sleep(700);
      reply.head(200, {});
      void reply.write(JSON.stringify(ANSWER));
      reply.end();
    });
    const receipt = await harness.receipt(await harness.call("chat"));
    expect(timingOf(receipt)).toEqual({ ...NOTHING, provider_first_content_ms: 700 });
  });

  test("H19: the pause before a retry is neither the provider's nor the gateway's", async () => {
    const harness = await Harness.start({ config: MODELS });
    const { upstream } = harness;
    const busy = { error: { message: "busy" } };
    upstream.play(upstream.json(busy, 503, { "retry-after": "2" }), slowStream(harness, "chat"));
    const receipt = await harness.receipt(await harness.call("chat", { stream: true }));
    expect(timingOf(receipt)).toEqual({
      ...NOTHING,
      backoff_ms: 2_000,
      provider_first_content_ms: 300,
      provider_stream_ms: 1_740,
    });
  });

  test("H20: a client that does not read makes the gateway wait for it, not for the provider", async () => {
    const harness = await Harness.start({ config: MODELS });
    const { clock, upstream } = harness;
    const long = wire.chatChunk({ content: "x".repeat(256 * 1024) });
    const [head = "", ...rest] = plainStream("chat", ["Hel", "lo"], USAGE).split(/(?<=\n\n)/);
    upstream.play(upstream.stream(200, head + (rest[0] ?? ""), 100, long, 50, rest.slice(1).join("")));
    const call = harness.send("chat", { stream: true, readsChunks: 1 });
    await clock.pass(5_000);
    call.goOn();
    const { client_ms, ...timing } = timingOf(await harness.receipt(await clock.until(call.answer)));
    // The provider has sent its end meanwhile.
    expect(client_ms).toBeWithin(4_500, 5_001);
    expect(timing.provider_first_content_ms + timing.provider_stream_ms).toBeWithin(250, 501);
    expect([timing.backoff_ms, timing.queue_ms, timing.gateway_ms]).toEqual([0, 0, 0]);
  });

  test("waiting for a provider's slot is queueing", async () => {
    const harness = await Harness.start({
      config: {
        providers: {
          one: { kind: "openai", base_url: `${UPSTREAM_URL}/v1`, api_key: "a-key", max_concurrent: 1 },
        },
        models: [{ id: "acme/chat", pricings: {}, offers: [{ provider: "one", model: "m" }] }],
      },
    });
    harness.upstream.play(async (reply) => {
      await harness.clock.sleep(400);
      reply.head(200, {});
      void reply.write(JSON.stringify(ANSWER));
      reply.end();
    });
    const calls = [1, 2].map(() => harness.send("chat", { model: "acme/chat" }));
    const answers = await harness.clock.until(Promise.all(calls.map(({ answer }) => answer)));
    const waits = [];
    for (const answer of answers) waits.push(timingOf(await harness.receipt(answer)));
    expect(waits.map(({ provider_first_content_ms }) => provider_first_content_ms)).toEqual([400, 400]);
    expect(waits.map(({ queue_ms }) => queue_ms)).toEqual([0, expect.closeTo(400, -1)]);
  });

  test("contract 8: a body that arrives slowly is waiting for the client", async () => {
    const harness = await Harness.start({ config: MODELS });
    harness.upstream.play(harness.upstream.json(ANSWER));
    const text = JSON.stringify({ model: "test/chat", messages: [{ role: "user", content: "hello" }] });
    const body = new ReadableStream<Uint8Array>({
      start: async (controller) => {
        controller.enqueue(Buffer.from(text.slice(0, 10)));
        await harness.clock.sleep(800);
        controller.enqueue(Buffer.from(text.slice(10)));
        controller.close();
      },
    });
    const sent = harness.sendRaw("/api/v1/chat/completions", body, { "content-type": "application/json" });
    const receipt = await harness.receipt(await harness.clock.until(sent.answer));
    expect(timingOf(receipt)).toEqual({ ...NOTHING, client_ms: 800 });
  });

  test("H26: if two offers are active, the call waits for both as one", async () => {
    const provider = (path: string) => ({ kind: "openai", base_url: `${UPSTREAM_URL}${path}/v1`, api_key: "a-key" });
    const harness = await Harness.start({
      config: {
        providers: { one: provider("/one"), two: provider("/two") },
        models: [
          { id: "acme/chat", pricings: {}, offers: ["one", "two"].map((name) => ({ provider: name, model: "m" })) },
        ],
      },
    });
    const { upstream, clock } = harness;
    upstream.play(async (reply, { url }) => {
      await clock.sleep(url.includes("/one") ? 30_000 : 500);
      reply.head(200, { "content-type": "text/event-stream" });
      void reply.write(plainStream("chat", ["Hel", "lo"], USAGE));
      reply.end();
    });
    const answer = await harness.call("chat", {
      model: "acme/chat",
      stream: true,
      headers: { "x-trivium-hedge": "true" },
    });
    const receipt = await harness.receipt(answer);
    expect([receipt.hedged, receipt.provider]).toEqual([true, "two"]);
    const timing = timingOf(receipt);
    expect([timing.provider_first_content_ms, timing.backoff_ms, timing.queue_ms]).toEqual([2_500, 0, 0]);
  });
});
