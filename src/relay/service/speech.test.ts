import { describe, expect, test } from "bun:test";
import { event, SoundGateway } from "./sound-gateway.sample.ts";

const sound = SoundGateway.forTests();

/** "hello" at 15 dollars a million characters. */
const HELLO_NANO_USD = 5 * 15_000;

const delta = (text: string) => event({ type: "speech.audio.delta", audio: Buffer.from(text).toString("base64") });
const done = (input_tokens: number, output_tokens: number) =>
  event({
    type: "speech.audio.done",
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  });

describe("a stream of sound", () => {
  test("is sent as it is generated; its last part waits for the receipt", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds(["one", 100, "two", 100, "three"]));
    const call = sound.say();
    const answer = await harness.clock.until(call.answer);
    expect(answer.text).toBe("onetwothree");
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(answer.headMs).toBeLessThan(50);
    expect(await harness.receipt(answer)).toMatchObject({
      stream: true,
      usage: { characters: 5 },
      usage_source: "measured",
      cost_nano_usd: HELLO_NANO_USD,
    });
  });

  test("H16: that breaks is incomplete for its client, and is billed as partial", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds(["one", 100, "two", 100], "broken"));
    const call = sound.say();
    const reading = call.answer.then(
      () => "whole",
      () => "broken",
    );
    expect(await harness.clock.until(reading)).toBe("broken");
    expect(call.text).toBe("onetwo");
    expect(await sound.lastReceipt()).toMatchObject({ usage_source: "partial", cost_nano_usd: HELLO_NANO_USD });
  });

  test("H16: that breaks before its first sound is tried at the next offer, and costs nothing", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds([100], "broken"), sound.sounds([100], "broken"), sound.sounds(["good"]));
    const answer = await harness.clock.until(sound.say({ model: "test/two-voices" }).answer);
    expect(answer.text).toBe("good");
    const { offers, cost_nano_usd } = await harness.receipt(answer);
    expect(offers.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
      "one failed",
      "one failed",
      "two answered",
    ]);
    expect(cost_nano_usd).toBe(HELLO_NANO_USD);
  });

  test("that is empty is a failure", async () => {
    sound.harness.upstream.play(sound.sounds([]));
    const answer = await sound.harness.clock.until(sound.say().answer);
    expect([answer.status, answer.text.includes("does not contain sound")]).toEqual([502, true]);
    expect(await sound.harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0 });
  });

  test("that falls silent is broken off after the provider's idle timeout", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds(["one"], "silent"));
    const call = sound.say();
    const reading = call.answer.then(
      () => "whole",
      () => "broken",
    );
    expect(await harness.clock.until(reading)).toBe("broken");
    expect(call.ms).toBeGreaterThanOrEqual(120_000);
    expect(await sound.lastReceipt()).toMatchObject({ usage_source: "partial" });
  });

  test("H13, H26: whose client disconnects is read on for a moment, then ended, and billed", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds(["one", 60_000, "two"], "whole"));
    const call = sound.say();
    await harness.clock.pass(100);
    call.disconnect();
    await harness.clock.pass(30_000);
    expect(harness.upstream.replies[0]?.closedAtMs).toBeDefined();
    expect(await sound.lastReceipt()).toMatchObject({ usage_source: "partial", cost_nano_usd: HELLO_NANO_USD });
  });

  test("ends with the caller's deadline", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds([60_000, "one"]));
    const answer = await harness.clock.until(sound.say({}, { "x-trivium-deadline-ms": "1500" }).answer);
    expect([answer.status, answer.endMs]).toEqual([504, 1_500]);
  });
});

describe("sound in events", () => {
  test("of the host is sound to its client, with the tokens that the host reports", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(delta("one"), 50, delta("two") + done(7, 40)));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice" }).answer);
    expect(answer.text).toBe("onetwo");
    expect(JSON.parse(harness.upstream.requests[0]?.body ?? "")).toMatchObject({ stream_format: "sse" });
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { input: 7, audio_output: 40 },
      usage_source: "measured",
      cost_nano_usd: 7 * 1_000 + 40 * 10_000,
    });
  });

  test("H16: of a stream that ends without its last event is broken", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(delta("one"), 50, delta("two")));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice", stream_format: "sse" }).answer);
    const events = answer.text.split("\n\n").filter((frame) => frame.startsWith("data: "));
    expect(events.at(-1)).toContain("stream ended before the audio was complete");
    expect(answer.text).not.toContain("speech.audio.done");
    expect(await harness.receipt(answer)).toMatchObject({ usage_source: "partial" });
  });

  test("an error event before the first sound is the host's failure, and the next try may succeed", async () => {
    const { harness } = sound;
    const failure = event({ error: { message: "overloaded", type: "server_error" } });
    harness.upstream.play(harness.upstream.stream(failure), harness.upstream.stream(delta("good") + done(1, 2)));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice" }).answer);
    expect(answer.text).toBe("good");
  });

  test("keep-alives are sent to a client that waits for events", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(30_000, delta("late") + done(1, 2)));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice", stream_format: "sse" }).answer);
    expect(answer.headMs).toBeLessThan(30_000);
    expect(answer.text).toStartWith(": ");
    expect(answer.text).toContain("speech.audio.done");
  });

  test("H26: tokens that the host does not report are estimated and marked in the receipt", async () => {
    const { harness } = sound;
    harness.upstream.play(sound.sounds(["sound itself"]));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice" }).answer);
    expect(answer.text).toBe("sound itself");
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { input: 2, audio_output: 21 },
      usage_source: "estimated",
    });
  });
});

describe("contract 8: bad requests for speech", () => {
  test.each([
    [{ input: "" }, "input"],
    [{ input: 7 }, "input"],
    [{ input: Array(10_000).fill("a") }, "input"],
    [{ voice: { name: "x" } }, "voice.id"],
    [{ speed: 9 }, "speed"],
    [{ response_format: "ogg" }, "response_format"],
    [{ stream_format: "ws" }, "stream_format"],
    [{ model: undefined }, "model"],
    [{ model: "test/ear" }, "model"],
  ])("%j: %s", async (body, param) => {
    sound.harness.upstream.play(sound.sounds(["never"]));
    const answer = await sound.harness.clock.until(sound.say(body).answer);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { param } });
    expect(sound.harness.upstream.requests).toEqual([]);
  });
});

describe("H27: the usage that a host reports", () => {
  const sentence = "word ".repeat(200);
  const say = async (usage: string, body: object = {}) => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(delta("sound"), usage));
    const answer = await harness.clock.until(sound.say({ model: "test/token-voice", input: sentence, ...body }).answer);
    return harness.receipt(answer);
  };

  test("is billed where it may be true", async () => {
    expect(await say(done(200, 900))).toMatchObject({
      usage: { input: 200, audio_output: 900 },
      usage_source: "measured",
    });
  });

  test.each([
    ["nothing", 0, 0],
    ["too little sound for such a text", 200, 3],
    ["too little read for such a text", 1, 900],
  ])("is not believed: %s", async (_, input, output) => {
    expect(await say(done(input, output))).toMatchObject({
      usage: { input: 250, audio_output: 67 * 21 },
      usage_source: "estimated",
    });
  });

  test("H26: instructions are read too, and paid", async () => {
    const silent = event({ type: "speech.audio.done" });
    expect(await say(silent, { instructions: "word".repeat(50) })).toMatchObject({ usage: { input: 300 } });
    expect(await say(done(1, 900), { input: "hello", instructions: sentence })).toMatchObject({
      usage_source: "estimated",
    });
  });

  test("S07: names of other models are sent to no host", async () => {
    await say(done(200, 900), { models: ["dear"], fallbacks: ["dear"], custom: "kept" });
    const [sent] = sound.harness.upstream.requests;
    expect(sent?.body).not.toContain("dear");
    expect(sent?.body).toContain("kept");
  });
});

describe("hostile: a host of speech that", () => {
  const ANSWERS: Readonly<Record<string, [type: string, body: string]>> = {
    "sends nothing": ["audio/mpeg", ""],
    "sends JSON as its answer": ["application/json", '{"error":{"message":"no"}}'],
    "sends a page": ["text/html", "<html>Welcome</html>"],
    "sends events without sound": ["text/event-stream", done(0, 0)],
    "sends an error as an event": ["text/event-stream", event({ type: "error", error: { message: "no" } })],
  };

  test.each(Object.keys(ANSWERS))("%s is a failure with a status, and costs nothing", async (what) => {
    const { harness } = sound;
    const [type = "", body = ""] = ANSWERS[what] ?? [];
    harness.upstream.play((reply) => {
      reply.head(200, { "content-type": type });
      if (body !== "") void reply.write(body);
      reply.end();
    });
    const answer = await harness.clock.until(sound.say().answer);
    expect([what, answer.status]).toEqual([what, 502]);
    expect(JSON.parse(answer.text)).toHaveProperty("error.message");
    expect(await harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0 });
  });
});

test("voice, instructions and speed are sent to the host only if the client sets them", async () => {
  const { harness } = sound;
  const sent = () => JSON.parse(harness.upstream.requests.at(-1)?.body ?? "{}") as Record<string, unknown>;
  harness.upstream.play(sound.sounds(["one"]));
  await harness.clock.until(sound.say({ voice: "nova", speed: 1.5, response_format: "opus" }).answer);
  expect(sent()).toEqual({ model: "tts-1", input: "hello", voice: "nova", speed: 1.5, response_format: "opus" });
  await harness.clock.until(sound.say({ voice: undefined }).answer);
  expect(sent()).toEqual({ model: "tts-1", input: "hello", response_format: "mp3" });
});

test("H28: a client that does not read holds its host back, and gets all of it when it reads on", async () => {
  const { harness } = sound;
  const part = "x".repeat(1024 * 1024);
  let taken = 0;
  harness.upstream.play(async (reply) => {
    reply.head(200, { "content-type": "audio/mpeg" });
    for (; taken < 12; taken++) await reply.write(part);
    reply.end();
  });
  const call = sound.say({}, {}, { readsChunks: 1 });
  await harness.clock.pass(5_000);
  expect(taken).toBeLessThan(10);
  call.goOn();
  expect((await harness.clock.until(call.answer)).text.length).toBe(12 * part.length);
});

test("choices 6: instructions reach models that read them; for others they are left out, and noted", async () => {
  const { harness } = sound;
  const instructions = "slowly";
  const sent = () => JSON.parse(harness.upstream.requests.at(-1)?.body ?? "{}") as Record<string, unknown>;
  harness.upstream.play(sound.sounds(["one"]));
  const deaf = await harness.clock.until(sound.say({ instructions }).answer);
  expect([sent()["instructions"], deaf.headers.get("x-trivium-dropped")]).toEqual([undefined, "instructions"]);
  const heard = await harness.clock.until(sound.say({ model: "test/token-voice", instructions }).answer);
  expect([sent()["instructions"], heard.headers.get("x-trivium-dropped")]).toEqual(["slowly", null]);
});

test("choices 5: the last event reports tokens: the host's, or an estimate if it counts characters or reports nothing", async () => {
  const { harness } = sound;
  const { upstream } = harness;
  const done = async (model: string) => {
    const { text } = await harness.clock.until(sound.say({ model, stream_format: "sse" }).answer);
    const last = text.trimEnd().split("\n\n").at(-1) ?? "";
    return (JSON.parse(last.slice("data: ".length)) as { usage: object }).usage;
  };
  upstream.play(sound.sounds(["one"]));
  const estimate = { input_tokens: 2, output_tokens: 21, total_tokens: 23 };
  expect(await done("test/voice")).toEqual(estimate);
  expect(await done("test/token-voice")).toEqual(estimate);
  const spoken = event({ type: "speech.audio.delta", audio: Buffer.from("one").toString("base64") });
  const usage = { input_tokens: 5, output_tokens: 9, total_tokens: 14 };
  upstream.play(upstream.stream(spoken, event({ type: "speech.audio.done", usage })));
  expect(await done("test/token-voice")).toEqual(usage);
});
