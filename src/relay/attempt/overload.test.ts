import { describe, expect, test } from "bun:test";
import { DIALECTS } from "../../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Script } from "../../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../../testing/plain-answer.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";

const USAGE = plainUsage("chat", 10, 5);
const ANSWER = plainAnswer("chat", { text: "Hello", usage: USAGE });
/** Without the few milliseconds in which receipts are collected. */
const about = (ms: number) => Math.floor(ms / 100) * 100;

const OTHER_KEY = "other-key-of-the-overload-tests-0123456789";

interface Given {
  routing?: object;
  one?: object;
  two?: object;
}

/** A gateway with one model at two providers, whose answers take half a second. */
async function overloaded({ routing = {}, one = {}, two = {} }: Given) {
  const provider = (more: object) => ({ kind: "openai", base_url: `${UPSTREAM_URL}/v1`, api_key: "a-key", ...more });
  const harness = await Harness.start({
    config: {
      routing,
      providers: { one: provider(one), two: provider({ base_url: `${UPSTREAM_URL}/second/v1`, ...two }) },
      models: [
        {
          id: "acme/chat",
          pricings: {},
          offers: ["one", "two"].map((name) => ({ provider: name, model: "upstream-model" })),
        },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "others", key: OTHER_KEY },
      ],
    },
  });
  harness.upstream.play(async (reply, { body }) => {
    await harness.clock.sleep(500);
    const streamed = body.includes('"stream":true');
    reply.head(200, streamed ? { "content-type": "text/event-stream" } : {});
    if (streamed) {
      const [first = "", ...rest] = plainStream("chat", ["Hel", "lo"], USAGE).split(/(?<=\n\n)/);
      await reply.write(first);
      await harness.clock.sleep(500);
      await reply.write(rest.join(""));
    } else await reply.write(JSON.stringify(ANSWER));
    reply.end();
  });
  const post = (key = TEST_KEY, more: object = {}) =>
    harness.sendPost(
      "/v1/chat/completions",
      { model: "acme/chat", messages: [{ role: "user", content: "hi" }], ...more },
      key,
    );
  const hosts = () => harness.upstream.requests.map(({ url }) => (url.includes("second") ? "two" : "one"));
  return { harness, clock: harness.clock, post, hosts };
}

describe("choices 8: providers with a limit on concurrent requests", () => {
  test("the next offer is tried at once if the first one is full", async () => {
    const { harness, clock, post, hosts } = await overloaded({ one: { max_concurrent: 1 } });
    const calls = [post(), post(), post()];
    const answers = await clock.until(Promise.all(calls.map(({ answer }) => answer)));
    expect(answers.map(({ status, endMs }) => [status, about(endMs)])).toEqual([
      [200, 500],
      [200, 500],
      [200, 500],
    ]);
    expect(hosts()).toEqual(["one", "two", "two"]);
    expect(harness.gateway.slots.running).toBe(0);
  });

  test("a call waits where all are full, and is served in its turn", async () => {
    const { harness, clock, post, hosts } = await overloaded({
      one: { max_concurrent: 1 },
      two: { max_concurrent: 1 },
    });
    const calls = [post(), post(), post()];
    const answers = await clock.until(Promise.all(calls.map(({ answer }) => answer)));
    expect(answers.map(({ status, endMs }) => [status, about(endMs)])).toEqual([
      [200, 500],
      [200, 500],
      [200, 1_000],
    ]);
    expect(hosts()).toEqual(["one", "two", "one"]);
    const { slots } = harness.gateway;
    expect([slots.running, slots.queued]).toEqual([0, 0]);
  });

  test("a stream holds its slot to its end, not to its first content", async () => {
    const { clock, post } = await overloaded({ routing: { max_concurrent: 1, queue_ms: 5_000 } });
    const [, second] = [post(TEST_KEY, { stream: true }), post()];
    const { status, endMs } = await clock.until(second.answer);
    expect([status, about(endMs)]).toEqual([200, 1_500]);
  });

  test("a stream that its client leaves gives its slot back", async () => {
    const { harness, clock, post } = await overloaded({ routing: { max_concurrent: 1 } });
    const first = post(TEST_KEY, { stream: true });
    await clock.pass(600);
    first.disconnect();
    await clock.pass(60_000);
    expect(harness.gateway.slots.running).toBe(0);
  });

  test("a provider that fails gives its slot back before the pause", async () => {
    const { harness, clock, post, hosts } = await overloaded({
      one: { max_concurrent: 1 },
      two: { max_concurrent: 1 },
    });
    const broken = harness.upstream.json({ error: { message: "broken" } }, 500);
    harness.upstream.play(broken, broken, harness.upstream.json(ANSWER));
    const { status } = await clock.until(post().answer);
    expect([status, hosts()]).toEqual([200, ["one", "one", "two"]]);
    expect(harness.gateway.slots.running).toBe(0);
  });

  test("a second try is not waited for while another offer may answer", async () => {
    const { harness, clock, post, hosts } = await overloaded({ one: { max_concurrent: 1 } });
    const slow: Script = async (reply, request) => {
      await clock.sleep(5_000);
      await harness.upstream.json(ANSWER)(reply, request);
    };
    harness.upstream.play(
      harness.upstream.json({ error: { message: "broken" } }, 500),
      slow,
      harness.upstream.json(ANSWER),
    );
    const failing = post();
    await clock.pass(10);
    // Takes the slot while the first call pauses.
    const taking = post();
    const { status, endMs } = await clock.until(failing.answer);
    expect([status, hosts()]).toEqual([200, ["one", "one", "two"]]);
    expect(endMs).toBeLessThan(500);
    await clock.until(taking.answer);
    expect(harness.gateway.slots.running).toBe(0);
  });
});

describe("choices 8: an overloaded gateway", () => {
  test.each(DIALECTS)(
    "refuses at once what does not fit into the queue, in the caller's protocol: %s",
    async (dialect) => {
      const harness = await Harness.start({
        config: {
          routing: { max_concurrent: 1, max_queue: 0 },
          providers: { one: { kind: "openai", base_url: `${UPSTREAM_URL}/v1`, api_key: "a-key" } },
          models: [{ id: `test/${dialect}`, pricings: {}, offers: [{ provider: "one", model: "upstream-model" }] }],
        },
      });
      harness.upstream.play(() => {});
      harness.send(dialect);
      await harness.clock.pass(10);
      const refused = await harness.call(dialect);
      const { status, headers, text, endMs } = refused;
      expect([status, about(endMs)]).toEqual([dialect === "messages" ? 529 : 503, 0]);
      expect(headers.get("retry-after")).toBe("1");
      expect(text).toContain("the queue (limit 0) is full");
      const receipt = await harness.receipt(refused);
      expect(receipt).toMatchObject({ offers: [], cost_nano_usd: 0, usage_source: "measured" });
    },
  );

  test("a call that waited in vain is rejected after its time", async () => {
    const { clock, post } = await overloaded({ routing: { max_concurrent: 1, queue_ms: 300 } });
    const [, second] = [post(), post()];
    const { status, endMs } = await clock.until(second.answer);
    expect([status, about(endMs)]).toEqual([503, 300]);
  });

  test("no call waits longer than its own deadline", async () => {
    const { clock, post } = await overloaded({ routing: { max_concurrent: 1, queue_ms: 9_000, deadline_ms: 200 } });
    const [, second] = [post(), post()];
    const { endMs } = await clock.until(second.answer);
    expect(about(endMs)).toBe(200);
  });

  test("H13: a call whose client has disconnected never reaches a provider", async () => {
    const { harness, clock, post, hosts } = await overloaded({ routing: { max_concurrent: 1 } });
    const calls = [post(), post(), post()];
    await clock.pass(100);
    calls[1]?.disconnect();
    const last = await clock.until(calls[2]?.answer ?? Promise.reject(new Error("no call")));
    expect([last.status, about(last.endMs), hosts().length]).toEqual([200, 1_000, 2]);
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, openUpstreams: 0 });
  });

  test("keys take turns", async () => {
    const { clock, post } = await overloaded({ routing: { max_concurrent: 1, queue_ms: 9_000 } });
    const many = [post(), post(), post(), post()];
    const few = post(OTHER_KEY);
    const { endMs } = await clock.until(few.answer);
    // After the one that ran and the first one of the other key that waited.
    expect(about(endMs)).toBe(1_500);
    await clock.until(Promise.all(many.map(({ answer }) => answer)));
  });

  test("without limits nothing waits, and nothing is counted", async () => {
    const { harness, clock, post } = await overloaded({});
    const calls = Array.from({ length: 20 }, () => post());
    await clock.pass(100);
    expect(harness.gateway.slots.running).toBe(0);
    const answers = await clock.until(Promise.all(calls.map(({ answer }) => answer)));
    expect(answers.map(({ endMs }) => about(endMs))).toEqual(calls.map(() => 500));
  });
});
