import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { MAX_ORPHANS } from "../../src/relay/attempt/watched-attempt.ts";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";

const KB = 1024;
const MB = 1024 * KB;
const { readOnMs } = DEFAULT_TIMINGS;
const ONCE_KEY = "a-key-for-one-request-a-minute";
const STRICT_KEY = "a-strict-key-of-the-configuration";

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({
    config: {
      ...scriptedModels(UPSTREAM_URL, { first_byte: 60_000, idle: 30_000 }),
      server: { memory_mb: 64, max_body_mb: 8 },
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "strict", key: STRICT_KEY, strict: true },
        { name: "once", key: ONCE_KEY, limits: { requests_per_minute: 1 } },
      ],
    },
  });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

const SSE = { "content-type": "text/event-stream" };
const said = wire.chatChunk({ content: "hello" });
const ending = wire.chatChunk({}, "stop") + wire.done;
const answerOf = (bytes: number) =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: "x".repeat(bytes) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1_000_000, total_tokens: 1_000_001 },
  });

describe("S23: memory held by responses", () => {
  test("a non-streamed one is counted as it arrives, and released at its end", async () => {
    const { clock, upstream, gateway } = harness;
    const text = answerOf(3 * MB);
    upstream.play(async (reply) => {
      reply.head();
      void reply.write(text.slice(0, MB));
      await clock.sleep(1_000);
      void reply.write(text.slice(MB));
      reply.end();
    });
    const call = harness.send("chat");
    await clock.pass(500);
    expect(gateway.memory.held).toBeWithin(MB, MB + KB);
    expect((await clock.until(call.answer)).status).toBe(200);
  });

  test("one that does not fit into memory is reported as such, and no provider is called again", async () => {
    const { clock, upstream, gateway } = harness;
    const others = ["a", "b"].map((keyId) => gateway.memory.open({ keyId, keyName: keyId }));
    for (const held of others) held.add(31 * MB);
    upstream.play(async (reply) => {
      reply.head();
      await reply.write(answerOf(3 * MB));
    });
    const refused = await harness.call("chat");
    expect([refused.status, upstream.requests.length]).toEqual([503, 1]);
    expect(errorIn(refused).message).toContain("reached its memory limit");
    expect(upstream.open).toBe(0);
    for (const held of others) held.release();
    await clock.pass(0);
  });

  test("text beyond 32 MB is abandoned, and its upstream is ended", async () => {
    const { upstream } = harness;
    upstream.play(async (reply) => {
      reply.head();
      await reply.write(new Uint8Array(32 * MB + 1).fill(0x20));
    });
    const refused = await harness.call("chat");
    expect([refused.status, errorIn(refused).message]).toEqual([
      502,
      "Provider `up-chat`'s response is larger than 33554432 bytes.",
    ]);
  });

  test("an error body beyond 256 KB is not read, but its status is reported", async () => {
    const { upstream } = harness;
    const refuses = (bytes: number) =>
      upstream.play(async (reply) => {
        reply.head(400);
        const body = JSON.stringify({ error: { message: "no such thing", type: "invalid_request_error" } });
        await reply.write(body + " ".repeat(bytes - body.length));
        reply.end();
      });
    refuses(256 * KB);
    expect(errorIn(await harness.call("chat")).message).toContain("no such thing");
    refuses(256 * KB + 1);
    const refused = await harness.call("chat");
    expect(refused.status).toBe(400);
    expect(refused.text).not.toContain("no such thing");
    expect(upstream.open).toBe(0);
  });

  test("of a stream, only a long incomplete event is counted", async () => {
    const { clock, upstream, gateway } = harness;
    const long = wire.chatChunk({ content: "x".repeat(MB) });
    upstream.play(
      upstream.stream(
        said,
        1_000,
        long.slice(0, 200 * KB),
        1_000,
        long.slice(200 * KB, 900 * KB),
        1_000,
        long.slice(900 * KB),
        1_000,
        said,
        1_000,
        ending,
      ),
    );
    const call = harness.send("chat", { stream: true });
    const held: number[] = [];
    for (let second = 0; second < 5; second++) {
      await clock.pass(second === 0 ? 500 : 1_000);
      held.push(gateway.memory.held);
    }
    const [, , whole = 0] = held;
    expect(whole).toBeWithin(900 * KB, 901 * KB);
    // The chunk that ends the event is counted with it, the next one no more.
    expect(held.map((bytes) => bytes > KB)).toEqual([false, false, true, true, false]);
    const { text } = await clock.until(call.answer);
    expect(text).toContain("x".repeat(MB));
  });
});

describe("H13, H26: upstreams that are read on without their client", () => {
  const disconnect = async (stream: boolean, ...steps: (string | number)[]) => {
    const { clock, upstream } = harness;
    upstream.play(stream ? upstream.openStream(said, ...steps) : () => {});
    const call = harness.send("chat", { stream });
    await clock.pass(1_000);
    call.disconnect();
    await clock.pass(0);
    return harness.clock.nowMs();
  };
  const closedAfter = (disconnectedAtMs: number) =>
    (harness.upstream.replies[0]?.closedAtMs ?? Number.NaN) - disconnectedAtMs;

  test("are counted meanwhile, and ended after two seconds", async () => {
    const disconnectedAtMs = await disconnect(true);
    expect([harness.gateway.orphanedTexts, harness.gateway.runningCalls]).toEqual([1, 1]);
    await harness.clock.pass(readOnMs);
    expect(harness.gateway.orphanedTexts).toBe(1);
    await harness.clock.pass(300);
    expect(closedAfter(disconnectedAtMs)).toBeWithin(readOnMs, readOnMs + 300);
  });

  test("are limited in number", async () => {
    const { gateway, clock } = harness;
    for (const [already, isReadOn] of [
      [MAX_ORPHANS.orphanedTexts - 1, true],
      [MAX_ORPHANS.orphanedTexts, false],
    ] as const) {
      gateway.orphanedTexts = already;
      const disconnectedAtMs = await disconnect(true);
      expect(gateway.orphanedTexts).toBe(MAX_ORPHANS.orphanedTexts);
      await clock.pass(readOnMs + 300);
      expect(closedAfter(disconnectedAtMs) > 0).toBe(isReadOn);
      expect(gateway.orphanedTexts).toBe(already);
      gateway.orphanedTexts = 0;
    }
  });

  test("send no more than 4 MB, not counting what came before", async () => {
    const { clock, upstream } = harness;
    const megabyte = `: ${"x".repeat(MB - 4)}\n\n`;
    const disconnectedAtMs = await disconnect(true, megabyte, 1_100, megabyte.repeat(4), 500, megabyte);
    await clock.pass(1_000);
    expect(closedAfter(disconnectedAtMs)).toBeWithin(500, 700);
    expect(upstream.open).toBe(0);
  });

  test("are ended at once when the gateway stops", async () => {
    const { clock, gateway } = harness;
    const disconnectedAtMs = await disconnect(false);
    gateway.closing = true;
    await clock.pass(200);
    gateway.closing = false;
    expect(closedAfter(disconnectedAtMs)).toBeWithin(0, 201);
  });
});

test.each([true, false])(
  "a host has its time to begin for the head of its response, and again for its first byte, streaming %p",
  async (stream) => {
    const { clock, upstream } = harness;
    upstream.play(async (reply) => {
      await clock.sleep(50_000);
      reply.head(200, stream ? SSE : {});
      await clock.sleep(50_000);
      void reply.write(stream ? said + ending : answerOf(10));
      reply.end();
    });
    const { status, text, endMs } = await harness.call("chat", { stream });
    expect([status, endMs, text.includes('"error"')]).toEqual([200, 100_000, false]);
  },
);

describe("a gateway that stops", () => {
  test.each([true, false])("informs the clients of calls in flight, streaming %p", async (stream) => {
    const { clock, gateway, upstream } = harness;
    upstream.play(stream ? upstream.openStream(said) : () => {});
    const call = harness.send("chat", { stream });
    await clock.pass(1_000);
    gateway.closing = true;
    const { text, endMs } = await clock.until(call.answer);
    gateway.closing = false;
    expect(text).toContain("This gateway is shutting down. Try again.");
    expect(endMs).toBeWithin(1_000, 1_201);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("what cannot be honoured", () => {
  const body = { logit_bias: { "1": 5 } };
  const call = (headers: Record<string, string> = {}, key = TEST_KEY, more: object = {}) => {
    const { upstream } = harness;
    upstream.play((reply) => {
      reply.head(200, SSE);
      void reply.write(wire.messageStart() + wire.textBlock("hello") + wire.messageEnd());
      reply.end();
    });
    return harness.call("chat", { stream: true, model: "test/messages", body: { ...body, ...more }, headers, key });
  };

  test("is named in the response and in its receipt", async () => {
    const answer = await call();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-trivium-dropped")).toBe("logit_bias");
    expect(await harness.receipt(answer)).toMatchObject({
      lane: "translated",
      dialect: { client: "chat", upstream: "messages" },
      fields: [{ path: "logit_bias", action: "dropped" }],
    });
  });

  test("H09: including the gateway's own options, by fields or by headers", async () => {
    const { headers } = await call({}, TEST_KEY, { fallbacks: [], provider: { sort: "price" } });
    expect(headers.get("x-trivium-dropped")).toBe("provider.sort,logit_bias,fallbacks");
  });

  test("H09: losses in a response are reported once per cause", async () => {
    const { upstream } = harness;
    const broken = (name: string, index: number) => ({
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: '{"a":' },
    });
    const message = { role: "assistant", content: null, tool_calls: ["one", "two", "one"].map(broken) };
    upstream.play(
      upstream.json({
        choices: [{ index: 0, message, finish_reason: "length" }],
        usage: { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 },
      }),
    );
    const tool = (name: string) => ({ name, input_schema: { type: "object" } });
    const given = await harness.call("messages", { model: "test/chat", body: { tools: [tool("one"), tool("two")] } });
    expect(given.status).toBe(200);
    const { fields } = await harness.receipt(given);
    expect(
      fields.filter(({ path }) => path === "answer.content").map(({ reason }) => reason.split(" ").at(-1)),
    ).toEqual(["one", "two"]);
  });

  test("refuses the call if the caller or its key is strict, before a provider is called", async () => {
    for (const refused of [await call({ "x-trivium-strict": "true" }), await call({}, STRICT_KEY)]) {
      expect([refused.status, harness.upstream.requests.length]).toEqual([400, 0]);
      expect(errorIn(refused).message).toContain("logit_bias");
    }
  });
});

test("S22: a provider's error text is only in the log at debug", async () => {
  const lines: string[] = [];
  const quiet = await Harness.start({ onLog: (line) => lines.push(line) });
  const said = JSON.stringify({ error: { message: "no quota", type: "insufficient_quota" } });
  quiet.upstream.play((reply) => {
    reply.head(400);
    void reply.write(said);
    reply.end();
  });
  await quiet.call("chat");
  quiet.upstream.play((reply) => {
    reply.head(400);
    reply.end();
  });
  await quiet.call("chat");
  await quiet.clock.pass(1_000);
  const failures = lines
    .join("")
    .split("\n")
    .filter((line) => line.includes("provider failed"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(failures.map(({ status, said }) => [status, said])).toEqual([
    [400, said],
    [400, undefined],
  ]);
  expect(lines.join("").split("no quota")).toHaveLength(2);
  quiet.upstream.play(quiet.upstream.brokenStream(wire.chatChunk({ content: "hi" }), 10));
  await quiet.call("chat", { stream: true });
  await quiet.clock.pass(1_000);
  expect(lines.join("")).not.toContain("internal error");
  // The log line of a call has what the operator needs, without the provider's text.
  const calls = lines
    .join("")
    .split("\n")
    .filter((line) => line.includes('"receipt"') && line.includes('"status":400'));
  expect(calls).toHaveLength(2);
});

test("S17: a key that sends too much is refused, and everything is released", async () => {
  const { clock } = harness;
  await harness.call("chat", { key: ONCE_KEY, body: { model: "no/such" } });
  await clock.pass(1_000);
  const { timers } = clock;
  expect((await harness.call("chat", { key: ONCE_KEY })).status).toBe(429);
  await clock.pass(1_000);
  expect(clock.timers).toBe(timers);
});

describe("a request without a model", () => {
  test.each([
    [undefined, "model is missing"],
    [7, "model is 7"],
    ["", 'model is ""'],
  ])("%p", async (model, words) => {
    await harness.clock.pass(1_000);
    const { timers } = harness.clock;
    const refused = await harness.call("chat", { body: { model } });
    expect(refused.status).toBe(400);
    // A refused call is not watched.
    await harness.clock.pass(1_000);
    expect(harness.clock.timers).toBe(timers);
    expect(errorIn(refused).message).toStartWith(words);
  });
});
