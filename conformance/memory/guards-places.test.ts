import { describe, expect, test } from "bun:test";
import type { GuardSettings } from "../../src/canon/guard/guard-settings.ts";
import { Guards } from "../../src/guards/guards.ts";
import { GuardRun } from "../../src/relay/guard/guard-run.ts";
import { guardsInForce } from "../../src/relay/guard/guards-in-force.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { MemoryVideos, VIDEO_CONFIG } from "../../testing/memory-videos.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const MAIL = "alice.b@example.com";
const REDACT = { name: "people", use: "pii", action: "redact" };
const BLOCK = { name: "people", use: "pii", action: "block" };
const CAPTURED_KEY = "a-key-whose-bodies-are-kept";

const usd = (value: number, unit: string) => [{ value, unit, currency: "USD" }];
const service = (id: string, output: string, model: string, pricings: object) => ({
  id,
  output_modalities: [output],
  pricings,
  offers: [{ provider: "one", model }],
});

function start(...guards: object[]): Promise<Harness> {
  const scripted = modelsOfEveryDialect(UPSTREAM_URL);
  const tokens = { prompt: usd(2, "perMTokens") };
  return Harness.start({
    config: {
      providers: {
        ...(scripted["providers"] as object),
        one: { kind: "openai", base_url: `${UPSTREAM_URL}/one/v1`, api_key: "upstream-secret" },
        many: { kind: "openai-compatible", base_url: `${UPSTREAM_URL}/many/v1`, api_key: "upstream-secret" },
      },
      models: [
        ...(scripted["models"] as object[]),
        service("test/vectors", "embeddings", "text-embedding-3-small", tokens),
        { ...service("test/ranks", "rerank", "r", tokens), offers: [{ provider: "many", model: "r" }] },
        service("test/judge", "moderation", "omni-moderation-latest", {}),
        service("test/voice", "audio", "tts-1", { characters: usd(15, "perMCharacters") }),
        service("test/ear", "transcription", "whisper-1", { audio: usd(0.0001, "perSecond") }),
        service("test/writer", "text", "gpt-3.5-turbo-instruct", { ...tokens, completion: usd(2, "perMTokens") }),
        service("test/painter", "image", "gpt-image-1", { image: usd(0.01, "perCount") }),
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "captured", key: CAPTURED_KEY, capture: true },
        { name: "limited", key: "a-key-with-a-small-budget-only", limits: { requests_per_minute: 3 } },
      ],
      guards,
    },
  });
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

describe("decision 0123: services", () => {
  test.each<[string, string, object, object]>([
    ["embeddings", "/v1/embeddings", { model: "test/vectors", input: [`mail ${MAIL}`, "other"] }, {}],
    ["rankings", "/v1/rerank", { model: "test/ranks", query: MAIL, documents: [`mail ${MAIL}`, "other"] }, {}],
    [
      "moderations",
      "/v1/moderations",
      { model: "test/judge", input: `mail ${MAIL}` },
      { results: [{ flagged: false }] },
    ],
    ["speech", "/v1/audio/speech", { model: "test/voice", voice: "alloy", input: `mail ${MAIL}` }, {}],
    ["completions", "/v1/completions", { model: "test/writer", prompt: `mail ${MAIL}` }, {}],
    ["images", "/v1/images/generations", { model: "test/painter", prompt: `mail ${MAIL}` }, {}],
  ])("%s: their input is redacted before it is sent, or refused at no cost", async (_name, path, body, answer) => {
    const harness = await start(REDACT);
    harness.upstream.play(harness.upstream.json(answer));
    const sent = await harness.post(path, body);
    expect(harness.upstream.requests[0]?.body).toContain("[redacted:email]");
    for (const { body: text } of harness.upstream.requests) expect(text).not.toContain("alice");
    expect((await harness.receipt(sent)).guards[0]).toMatchObject({ on: "request", verdict: "redacted" });

    const blocking = await start(BLOCK);
    blocking.upstream.play(blocking.upstream.json(answer));
    const refused = await blocking.post(path, body);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("content_blocked");
    expect(blocking.upstream.requests).toHaveLength(0);
    expect((await blocking.receipt(refused)).cost_nano_usd).toBe(0);
    expect(blocking.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
  });

  test("transcripts: the prompt of the form, and the transcript, whole and streamed", async () => {
    const harness = await start(REDACT);
    const hear = (fields: Record<string, string>) => {
      const form = new FormData();
      const all = { model: "test/ear", prompt: `names: ${MAIL}`, ...fields };
      for (const [name, value] of Object.entries(all)) form.append(name, value);
      form.append("file", new File([new Uint8Array(8_000).fill(7)], "said.mp3", { type: "audio/mpeg" }));
      return harness.clock.until(harness.sendForm("/v1/audio/transcriptions", form).answer);
    };
    const segments = [
      { id: 0, start: 0, end: 1, text: "write to alice.b" },
      { id: 1, start: 1, end: 2, text: "@example.com" },
    ];
    harness.upstream.play(harness.upstream.json({ text: `write to ${MAIL}`, segments, duration: 2 }));
    for (const format of ["json", "verbose_json", "srt"]) {
      const answer = await hear({ response_format: format });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain("[redacted:email]");
      expect(answer.text).not.toContain("alice");
      expect(answer.text).not.toContain("@example");
    }
    const [sent] = harness.upstream.requests;
    expect(sent?.body).toContain("names: [redacted:email]");
    expect(sent?.body).not.toContain("alice");
    const pieces = [..."write to alice.b@example.com now"].map((delta) =>
      event({ type: "transcript.text.delta", delta }),
    );
    const done = event({ type: "transcript.text.done", text: "write to alice.b@example.com now" });
    harness.upstream.play(harness.upstream.stream(...pieces, done));
    const streamed = await hear({ stream: "true" });
    expect(streamed.text).not.toContain("alice");
    expect(streamed.text).toContain("write to [redacted:email] now");
  });

  test("completions: a stream is redacted, or ends with the protocol's filter stop and is billed", async () => {
    const part = (text: string, finish: string | null = null) =>
      event({
        id: "cmpl-1",
        object: "text_completion",
        model: "m",
        choices: [{ index: 0, text, finish_reason: finish }],
      });
    const usage = event({
      id: "cmpl-1",
      model: "m",
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    });
    for (const guard of [REDACT, BLOCK]) {
      const harness = await start({ ...guard, on: ["response"] });
      const steps = [..."mail alice.b@example.com now"].map((one) => part(one));
      harness.upstream.play(harness.upstream.stream(...steps, part("", "stop"), usage, "data: [DONE]\n\n"));
      const answer = await harness.post("/v1/completions", { model: "test/writer", prompt: "hi", stream: true });
      expect(answer.text).not.toContain("alice");
      expect(answer.text).toContain(guard === REDACT ? "[redacted:email]" : '"finish_reason":"content_filter"');
      expect(answer.text).toEndWith("data: [DONE]\n\n");
      expect((await harness.receipt(answer)).usage).toMatchObject({ input: 4, output: 2 });
    }
  });
});

describe("decision 0123: videos", () => {
  const submitted = async (guard: object) => {
    const videos = await MemoryVideos.start({ config: { ...VIDEO_CONFIG, guards: [guard] } });
    const answer = await videos.submit({ prompt: `film ${MAIL}` });
    return { videos, answer };
  };

  test("their prompt is redacted before it is sent, and the receipt has the verdict", async () => {
    const videos = await MemoryVideos.start({ config: { ...VIDEO_CONFIG, guards: [REDACT] } });
    const { receipt } = await videos.made({ prompt: `film ${MAIL}` });
    expect(JSON.stringify(videos.host.jobs.map(({ request }) => request))).toContain("film [redacted:email]");
    for (const { body } of videos.harness.upstream.requests) expect(body).not.toContain("alice");
    expect(receipt.guards[0]).toMatchObject({ on: "request", verdict: "redacted" });
  });

  test("a blocked one is refused at no cost, with a receipt", async () => {
    const { videos, answer } = await submitted(BLOCK);
    expect(answer.status).toBe(400);
    expect(videos.host.jobs).toHaveLength(0);
    const receipt = await videos.harness.receipt(answer);
    expect(receipt.cost_nano_usd).toBe(0);
    expect(receipt.guards[0]).toMatchObject({ verdict: "blocked" });
    expect(videos.harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 });
  });
});

describe("decision 0123: the digest of guards in a cache", () => {
  test("the same guards have the same digest; a changed call says so", () => {
    const caller = { project: "default", keyId: "key_1", keyName: "tests" };
    const guards = (...all: GuardSettings[]) => new Guards(all, () => () => Promise.reject(new Error("not asked")));
    const one: GuardSettings = {
      name: "people",
      on: ["request"],
      use: "pii",
      action: "redact",
      onFailure: "block",
      timeoutMs: 1,
      window: 200,
    };
    const runOf = (...all: GuardSettings[]) => {
      const inForce = guards(...all).inForce(caller, ["test/chat"]);
      return inForce && new GuardRun(inForce);
    };
    const digest = (...all: GuardSettings[]) => guardsInForce({ guards: runOf(...all), attempt: undefined })?.digest;
    expect(digest(one)).toBe(digest({ ...one }) ?? "");
    expect(digest(one)).not.toBe(digest({ ...one, action: "block" }) ?? "");
    expect(digest({ ...one, for: { keys: ["others"] } })).toBeUndefined();
    const run = runOf(one);
    expect(guardsInForce({ guards: run, attempt: undefined })?.changed).toBe(false);
    run?.request.add("people", { verdict: "redacted", count: 1, ms: 0 });
    expect(guardsInForce({ guards: run, attempt: undefined })?.changed).toBe(true);
  });
});

describe("decision 0123: stored and captured texts", () => {
  test("captured bodies have the redacted text, and none of what a guard refused", async () => {
    const harness = await start(REDACT);
    for (const stream of [false, true]) {
      const usage = plainUsage("chat", 3, 4);
      harness.upstream.play(
        stream
          ? harness.upstream.stream(plainStream("chat", ["mail alice.b@", "example.com"], usage))
          : harness.upstream.json(plainAnswer("chat", { text: `mail ${MAIL}`, usage })),
      );
      await harness.call("chat", { key: CAPTURED_KEY, stream, body: { messages: [{ role: "user", content: MAIL }] } });
    }
    harness.upstream.play(
      harness.upstream.json({ id: "c", choices: [{ index: 0, text: `mail ${MAIL}`, finish_reason: "stop" }] }),
    );
    await harness.post("/v1/completions", { model: "test/writer", prompt: `from ${MAIL}` }, CAPTURED_KEY);
    const blocking = await start(BLOCK);
    await blocking.call("chat", { key: CAPTURED_KEY, body: { messages: [{ role: "user", content: MAIL }] } });
    for (const { gateway, clock, storage } of [harness, blocking]) {
      await clock.until(gateway.captures.close());
      const rows = await storage.query("SELECT receipt_id FROM captures");
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        const kept = JSON.stringify(await gateway.captures.read(String(row["receipt_id"])));
        expect(kept).not.toContain("alice");
        expect(kept).toMatch(/redacted:email|a guard refused the request/);
      }
    }
  });

  test.each([false, true])("stored responses and what continues them are redacted (stream: %p)", async (stream) => {
    const harness = await start(REDACT);
    const usage = plainUsage("messages", 3, 4);
    const answers = () =>
      stream
        ? harness.upstream.stream(plainStream("messages", ["mail alice.b@", "example.com"], usage))
        : harness.upstream.json(plainAnswer("messages", { text: `mail ${MAIL}`, usage }));
    harness.upstream.play(answers());
    const input = [{ role: "user", content: `from ${MAIL}` }];
    const first = await harness.call("responses", { model: "test/messages", stream, body: { input, store: true } });
    const id = /"id":"(resp_[^"]+)"/.exec(first.text)?.[1] ?? "";
    const shown = await harness.get(`/v1/responses/${id}`, { authorization: `Bearer ${TEST_KEY}` });
    expect(shown.status).toBe(200);
    expect(shown.text).toContain("mail [redacted:email]");
    expect(shown.text).not.toContain("alice");
    const items = await harness.get(`/v1/responses/${id}/input_items`, { authorization: `Bearer ${TEST_KEY}` });
    expect(items.text).toContain("from [redacted:email]");
    harness.upstream.play(answers());
    await harness.call("responses", { model: "test/messages", body: { input: "go on", previous_response_id: id } });
    expect(harness.upstream.requests[0]?.body).toContain("mail [redacted:email]");
    expect(harness.upstream.requests[0]?.body).not.toContain("alice");
  });

  test("a turn of a live connection is checked like any call", async () => {
    const harness = await start(REDACT);
    harness.upstream.play(
      harness.upstream.stream(
        plainStream("responses", ["mail alice.b@", "example.com"], plainUsage("responses", 3, 4)),
      ),
    );
    const client = await harness.openLive();
    client.say({ type: "response.create", model: "test/responses", input: `from ${MAIL}`, store: false });
    const done = await client.hears("response.completed");
    expect(JSON.stringify(client.events)).not.toContain("alice");
    expect(JSON.stringify(done)).toContain("mail [redacted:email]");
    expect(harness.upstream.requests[0]?.body).toContain("from [redacted:email]");
  });

  test("counting tokens sends no address either", async () => {
    const harness = await start(REDACT);
    harness.upstream.play(harness.upstream.json({ input_tokens: 5 }));
    const body = { model: "test/messages", messages: [{ role: "user", content: MAIL }] };
    const version = { "partner-version": "2023-06-01" };
    await harness.clock.until(harness.sendPost("/api/msg/v1/messages/count_tokens", body, TEST_KEY, version).answer);
    expect(harness.upstream.requests[0]?.body).toContain("[redacted:email]");
  });
});

const flags = (words: RegExp) => (input: readonly string[]) => ({
  id: "modr-1",
  model: "m",
  results: input.map((text) => ({
    flagged: words.test(text),
    categories: { violence: words.test(text) },
    category_scores: {},
  })),
});

describe("decision 0124: a moderation model", () => {
  const judge = { name: "judge", use: "moderation", model: "test/judge", action: "block" };

  function play(harness: Harness, words: RegExp, text = "Fine."): void {
    const answer = harness.upstream.json(plainAnswer("chat", { text, usage: plainUsage("chat", 10, 20) }));
    harness.upstream.play((reply, request) => {
      if (!request.url.endsWith("/moderations")) return answer(reply, request);
      const { input } = JSON.parse(request.body) as { input: string[] };
      return harness.upstream.json(flags(words)(input))(reply, request);
    });
  }

  test("is asked as a call of the same key, with its own receipt", async () => {
    const harness = await start(judge);
    play(harness, /knife/);
    const answer = await harness.call("chat");
    expect(answer.status).toBe(200);
    expect(harness.upstream.requests.map(({ url }) => url.replace(UPSTREAM_URL, ""))).toEqual([
      "/one/v1/moderations",
      "/v1/chat/completions",
      "/one/v1/moderations",
    ]);
    const receipts = await harness.receipts();
    expect(receipts.map(({ model }) => model).sort()).toEqual(["test/chat", "test/judge", "test/judge"]);
    expect((await harness.receipt(answer)).guards.map(({ verdict }) => verdict)).toEqual(["passed", "passed"]);
    expect(receipts.filter(({ model }) => model === "test/judge").every(({ guards }) => guards.length === 0)).toBe(
      true,
    );
  });

  test("blocks a request and a response, and names the category", async () => {
    const harness = await start(judge);
    play(harness, /hello/);
    const refused = await harness.call("chat");
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("violence");
    play(harness, /knife/, "Take the knife.");
    const stopped = await harness.call("chat");
    expect(stopped.text).toContain('"finish_reason":"content_filter"');
    expect(stopped.text).not.toContain("knife");
  });

  test("that fails refuses the call, or says that it did not run", async () => {
    for (const on_failure of ["block", "allow"]) {
      const harness = await start({ ...judge, on_failure, on: ["request"] });
      const answer = harness.upstream.json(plainAnswer("chat", { text: "Fine.", usage: plainUsage("chat", 1, 2) }));
      harness.upstream.play((reply, request) =>
        (request.url.endsWith("/moderations") ? harness.upstream.json({}, 500) : answer)(reply, request),
      );
      const got = await harness.call("chat");
      expect(got.status).toBe(on_failure === "block" ? 503 : 200);
      expect((await harness.receipt(got)).guards[0]).toMatchObject({ verdict: "not_run" });
    }
  });
});
