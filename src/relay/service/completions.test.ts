import { describe, expect, test } from "bun:test";
import { event, SoundGateway } from "./sound-gateway.sample.ts";

const sound = SoundGateway.forTests();

const part = (text: string, finish: string | null = null) =>
  event({ id: "cmpl-1", object: "text_completion", model: "m", choices: [{ index: 0, text, finish_reason: finish }] });
const USAGE = event({
  id: "cmpl-1",
  model: "m",
  choices: [],
  usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
});
const END = "data: [DONE]\n\n";

test("choices 5: usage is always requested and billed, but returned only to clients that ask for it", async () => {
  const { harness } = sound;
  const script = harness.upstream.stream(part("one "), part("two", "stop"), USAGE, END);
  harness.upstream.play(script);
  const plain = await harness.clock.until(sound.complete().answer);
  expect(plain.text).not.toContain("usage");
  expect(plain.text).toEndWith(END);
  expect(JSON.parse(harness.upstream.requests[0]?.body ?? "")).toMatchObject({
    model: "gpt-3.5-turbo-instruct",
    stream_options: { include_usage: true },
  });
  expect(await harness.receipt(plain)).toMatchObject({
    usage: { input: 4, output: 2 },
    usage_source: "measured",
    cost_nano_usd: 4 * 1_000 + 2 * 2_000,
  });
  harness.upstream.play(script);
  const asking = await harness.clock.until(sound.complete({ stream_options: { include_usage: true } }).answer);
  expect(asking.text).toContain('"prompt_tokens":4');
});

test("H26: a stream without usage is estimated by its text", async () => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.stream(part("twelve chars", "stop"), END));
  const answer = await harness.clock.until(sound.complete().answer);
  expect(await harness.receipt(answer)).toMatchObject({ usage: { output: 3 }, usage_source: "estimated" });
});

test("H16: a stream that ends without a finish reason is broken, and billed as far as it was received", async () => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.stream(part("twelve chars"), 50));
  const answer = await harness.clock.until(sound.complete().answer);
  expect(answer.text).toContain('"text":"twelve chars"');
  expect(answer.text).toContain("closed the stream before the end");
  expect(answer.text).not.toContain(END);
  expect(await harness.receipt(answer)).toMatchObject({ usage: { output: 3 }, usage_source: "partial" });
});

test("an event that is not JSON, and a response that is not a stream, are failures of the host", async () => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.stream("data: {nonsense\n\n"));
  expect((await harness.clock.until(sound.complete().answer)).status).toBe(502);
  harness.upstream.play(harness.upstream.json({ choices: [] }));
  expect((await harness.clock.until(sound.complete().answer)).status).toBe(502);
});

test.each([
  [{ prompt: undefined }, "prompt"],
  [{ prompt: {} }, "prompt"],
  [{ prompt: [] }, "prompt"],
  [{ max_tokens: "many" }, "max_tokens"],
  [{ n: 1_000 }, "n"],
  [{ stream: "yes" }, "stream"],
])("contract 8: %j is rejected with its path, %s", async (body, param) => {
  sound.harness.upstream.play(sound.harness.upstream.json({}));
  const answer = await sound.harness.clock.until(sound.complete(body).answer);
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { param } });
});

const whole = (text: string, usage?: object) => ({
  id: "cmpl-1",
  choices: [{ index: 0, text, finish_reason: "stop" }],
  ...(usage === undefined ? {} : { usage }),
});

test.each([
  ["none at all", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ["too few for such a prompt", { prompt_tokens: 1, completion_tokens: 500, total_tokens: 501 }],
  ["too few for such an answer", { prompt_tokens: 300, completion_tokens: 1, total_tokens: 301 }],
])("H27: tokens that cannot be true (%s) are counted here", async (_, usage) => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.json(whole("word".repeat(100), usage)));
  const asked = sound.complete({ stream: false, prompt: "word".repeat(100) });
  const answer = await harness.clock.until(asked.answer);
  expect(await harness.receipt(answer)).toMatchObject({
    usage: { input: 100, output: 100 },
    usage_source: "estimated",
  });
});

test("H26: answers that are made and not shown are paid; Chinese has a token a character; a number is a token", async () => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.json(whole("word".repeat(10))));
  const best = await harness.clock.until(sound.complete({ stream: false, best_of: 6, n: 2 }).answer);
  expect(await harness.receipt(best)).toMatchObject({ usage: { output: 30 } });
  harness.upstream.play(harness.upstream.json(whole("\u66f4\u591a".repeat(10))));
  const chinese = await harness.clock.until(sound.complete({ stream: false, prompt: [1, 2, 3, 4, 5] }).answer);
  expect(await harness.receipt(chinese)).toMatchObject({ usage: { input: 5, output: 20 } });
});

test("S07: names of other models are sent to no host", async () => {
  const { harness } = sound;
  harness.upstream.play(harness.upstream.json(whole("hi")));
  const answer = await harness.clock.until(
    sound.complete({ stream: false, models: ["dear"], fallbacks: [{ model: "dear" }], suffix: "kept" }).answer,
  );
  expect(harness.upstream.requests[0]?.body).not.toContain("dear");
  expect(harness.upstream.requests[0]?.body).toContain("kept");
  expect(await harness.receipt(answer)).toMatchObject({ fields: [{ path: "models" }, { path: "fallbacks" }] });
});

test.each([
  [{ n: 2, best_of: 4 }, 40],
  [{ n: 3 }, 30],
  [{ best_of: 2 }, 20],
  [{ prompt: ["one", "two"] }, 20],
])("H26: what is ended while its host is at work is billed as it may have come to: %j", async (asked, output) => {
  const { harness } = sound;
  harness.upstream.play(() => {});
  const body = { stream: false, max_tokens: 10, trivium: { deadline_ms: 500 }, ...asked };
  const answer = await harness.clock.until(sound.complete(body).answer);
  expect(answer.status).toBe(504);
  expect(await harness.receipt(answer)).toMatchObject({ usage: { output }, usage_source: "partial" });
});

describe("decision 0018: service_tier", () => {
  const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
  const asked = (tier: string, path: "/v1/completions" | "/api/v1/completions", stream: boolean) =>
    sound.harness.clock.until(
      sound.harness.sendPost(path, { model: "test/writer", prompt: "hello", service_tier: tier, stream }).answer,
    );
  const play = (stream: boolean, served?: string) => {
    const { upstream } = sound.harness;
    const tier = served === undefined ? {} : { service_tier: served };
    const streamed = [part("two", "stop"), event({ choices: [], usage, ...tier }), END];
    upstream.play(stream ? upstream.stream(...streamed) : upstream.json({ ...whole("two", usage), ...tier }));
  };
  const sentTier = () =>
    (JSON.parse(sound.harness.upstream.requests.at(-1)?.body ?? "{}") as { service_tier?: string }).service_tier;
  const PLAIN_NANO_USD = 4 * 1_000 + 2 * 2_000;

  test.each([false, true])("has the price of its term, streamed %p", async (stream) => {
    play(stream);
    const answer = await asked("priority", "/v1/completions", stream);
    expect(sentTier()).toBe("priority");
    expect(await sound.harness.receipt(answer)).toMatchObject({ cost_nano_usd: 2 * PLAIN_NANO_USD });
  });

  test.each([false, true])("the terms that the host reports are billed, streamed %p", async (stream) => {
    play(stream, "default");
    const answer = await asked("priority", "/v1/completions", stream);
    expect(await sound.harness.receipt(answer)).toMatchObject({ cost_nano_usd: PLAIN_NANO_USD });
  });

  test("decision 0083: without a known price is rejected at the strict API and passed on elsewhere", async () => {
    const strict = await asked("ultrafast", "/api/v1/completions", false);
    expect(strict.status).toBe(400);
    expect(strict.text).toContain("service_tier");
    play(false);
    const open = await asked("ultrafast", "/v1/completions", false);
    expect([sentTier(), open.headers.get("x-trivium-dropped")]).toEqual(["ultrafast", null]);
  });
});

describe("decision 0083: tools in a request for a completion", () => {
  const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
  const asked = (path: "/v1/completions" | "/api/v1/completions", stream: boolean, tools: object) => {
    const { harness } = sound;
    const streamed = [part("two", "stop"), event({ choices: [], usage }), END];
    harness.upstream.play(stream ? harness.upstream.stream(...streamed) : harness.upstream.json(whole("two", usage)));
    return harness.clock.until(
      harness.sendPost(path, { model: "test/writer", prompt: "hello", stream, ...tools }).answer,
    );
  };

  test.each([
    [{ tools: [{ type: "hologram" }] }, "tools[0]"],
    [{ plugins: [{ id: "oracle" }] }, "plugins[0].id"],
  ])("without a known price are rejected at the strict API: %j", async (tools, param) => {
    const answer = await asked("/api/v1/completions", false, tools);
    expect([answer.status, sound.harness.upstream.requests.length]).toEqual([400, 0]);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { param: expect.stringContaining(param) } });
  });

  test.each([false, true])("elsewhere they are passed on, and the receipt names them, streamed %p", async (stream) => {
    const answer = await asked("/v1/completions", stream, { plugins: [{ id: "oracle", max_results: 3 }] });
    expect(JSON.parse(sound.harness.upstream.requests.at(-1)?.body ?? "{}")).toMatchObject({
      plugins: [{ id: "oracle" }],
    });
    expect(await sound.harness.receipt(answer)).toMatchObject({
      usage: { input: 4, output: 2, tools: { "plugin:oracle": 3 } },
      unpriced: ["plugin:oracle"],
    });
  });

  test.each([false, true])("a search counts although responses do not report it, streamed %p", async (stream) => {
    const answer = await asked("/v1/completions", stream, { web_search_options: {} });
    const receipt = await sound.harness.receipt(answer);
    expect(receipt).toMatchObject({ usage: { input: 4, output: 2, searches: 1 } });
  });
});

test("H26: an invalid response costs nothing and is requested again", async () => {
  const { harness } = sound;
  const { upstream } = harness;
  const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
  upstream.play(upstream.json({ welcome: true }), upstream.json(whole("two", usage)));
  const answer = await harness.clock.until(sound.complete({ stream: false }).answer);
  expect(await harness.receipt(answer)).toMatchObject({
    usage: { input: 4, output: 2 },
    usage_source: "measured",
    cost_nano_usd: 4 * 1_000 + 2 * 2_000,
  });
});
