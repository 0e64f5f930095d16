import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import {
  KEYS,
  MemoryVideos,
  SOUND_NANO_USD,
  TASK_MODEL,
  videoModel,
  videoPrices,
} from "../../../testing/memory-videos.ts";
import { errorIn } from "../../../testing/sent-call.ts";

/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const refuses =
  (status: number, code = "InternalServiceError"): Script =>
  (reply) => {
    reply.head(status);
    void reply.write(JSON.stringify({ error: { code, message: "no" } }));
    reply.end();
  };

const atPrice = (nanoUsd: number, provider: string) => ({
  provider,
  model: TASK_MODEL,
  pricings: videoPrices(nanoUsd, nanoUsd),
});

describe("contract 2.1: a submit", () => {
  test("sends one request, and answers with the operation's name before the video is made", async () => {
    const videos = await MemoryVideos.start();
    const submitted = await videos.submit({ parameters: { seed: 7, aspectRatio: "9:16", resolution: "480P" } });
    expect([submitted.status, submitted.endMs]).toEqual([200, 0]);
    expect(JSON.parse(submitted.text)).toEqual({ name: `publishers/test/models/video/operations/${submitted.id}` });
    expect(submitted.headers.get("content-type")).toBe("application/json");
    expect(submitted.headers.get("x-trivium-dropped")).toBeNull();
    expect(videos.host.jobs.map(({ request, authorization }) => ({ request, authorization }))).toEqual([
      {
        request: {
          watermark: false,
          model: TASK_MODEL,
          content: [{ type: "text", text: "a fox" }],
          ratio: "9:16",
          resolution: "480p",
          duration: 4,
          generate_audio: false,
          seed: 7,
        },
        authorization: "Bearer secret-of-one",
      },
    ]);
    expect(videos.leftovers()).toEqual({});
    expect(await videos.stored(submitted.id)).toMatchObject({ state: "running", claimed: true, project: "default" });
  });

  test("its receipt has the video, the offer that accepted it, and the fields that were not honoured", async () => {
    const videos = await MemoryVideos.start();
    const { submitted, receipt, operation } = await videos.made({
      parameters: { generateAudio: true, negativePrompt: "blur" },
      headers: { "x-trivium-hedge": "true" },
    });
    expect(submitted.headers.get("x-trivium-dropped")).toBe("x-trivium-hedge,parameters.negativePrompt");
    expect(receipt).toMatchObject({
      id: operation.receiptId,
      model: "test/video",
      provider: "one",
      upstream_model: TASK_MODEL,
      lane: "translated",
      dialect: { client: "genai", upstream: "media" },
      stream: false,
      offers: [{ provider: "one", outcome: "answered", ms: 0 }],
      usage: { seconds: 4 },
      usage_source: "measured",
      cost_nano_usd: 4 * SOUND_NANO_USD,
      total_ms: 30_000,
    });
    expect(receipt.fields.map(({ path }) => path)).toEqual(["x-trivium-hedge", "parameters.negativePrompt"]);
    expect(await videos.harness.receipts()).toHaveLength(1);
  });

  test("0061: its tags are kept with the operation, and are in the receipt that settles it later", async () => {
    const videos = await MemoryVideos.start();
    const { receipt, operation } = await videos.made({ headers: { "x-trivium-tags": "team-a, feature=clips" } });
    expect([operation.tags, receipt.tags]).toEqual([
      ["team-a", "feature=clips"],
      ["team-a", "feature=clips"],
    ]);
  });

  test("a dated name of the model is noted", async () => {
    const videos = await MemoryVideos.start({
      config: { models: [videoModel("test/video-1.5", { provider: "one", model: TASK_MODEL })] },
    });
    const path = "/v1/publishers/test/models/video-1.5-20250601:predictLongRunning";
    const sent = videos.harness.sendPost(path, { instances: [{ prompt: "a fox" }] });
    const answer = await videos.clock.until(sent.answer);
    expect(answer.headers.get("x-trivium-approximated")).toBe("model");
  });

  test("takes a frame by its URL, and sends its bytes", async () => {
    const videos = await MemoryVideos.start();
    videos.harness.web.files.set("https://images.test/a.png", {
      bytes: Buffer.from(PNG, "base64"),
      mimeType: "image/png",
    });
    const { text } = await videos.send({ image: { gcsUri: "https://images.test/a.png" } }).answer;
    expect(JSON.parse(text)).toHaveProperty("name");
    expect(videos.host.jobs[0]?.request["content"]).toEqual([
      { type: "text", text: "a fox" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` }, role: "first_frame" },
    ]);
  });

  test("a frame that is not an image is rejected with its path, and nothing is sent", async () => {
    const videos = await MemoryVideos.start();
    const answer = await videos.send({ image: { bytesBase64Encoded: "AAAA", mimeType: "image/png" } }).answer;
    expect([answer.status, videos.host.jobs.length]).toEqual([400, 0]);
    expect(errorIn(answer).message).toContain("instances[0].image");
    expect(await videos.rows("SELECT id FROM operations")).toEqual([]);
  });

  test("a body that cannot be read holds nothing afterwards, and leaves no receipt", async () => {
    const videos = await MemoryVideos.start({
      config: { keys: [{ name: "tests", key: KEYS.strict, limits: { concurrent: 1 } }] },
    });
    for (let again = 0; again < 3; again++) {
      const answer = await videos.submit({ parameters: { durationSeconds: "four" }, key: KEYS.strict });
      expect(answer.status).toBe(400);
    }
    expect((await videos.submit({ key: KEYS.strict })).status).toBe(200);
    expect((await videos.submit({ key: KEYS.strict, prompt: "another" })).status).toBe(200);
    expect(videos.leftovers()).toEqual({});
    expect(await videos.harness.receipts()).toEqual([]);
  });
});

describe("H09: a strict caller gets what it requested, or an error and no job", () => {
  const dropped = { parameters: { negativePrompt: "blur" } };

  test.each([
    ["by its key", { key: KEYS.strict }],
    ["by a header", { headers: { "x-trivium-strict": "true" } }],
  ])("%s", async (_, strict) => {
    const videos = await MemoryVideos.start();
    const answer = await videos.submit({ ...dropped, ...strict });
    expect([answer.status, videos.host.jobs.length]).toEqual([400, 0]);
    expect(errorIn(answer).message).toContain("parameters.negativePrompt");
    expect((await videos.submit(strict)).status).toBe(200);
  });

  test("any other call gets a note of dropped fields", async () => {
    const videos = await MemoryVideos.start();
    expect((await videos.submit(dropped)).status).toBe(200);
  });
});

describe("an offer that does not take the job", () => {
  test.each([
    ["is busy", refuses(429), ["failed", "answered"]],
    ["fails, and fails again", refuses(500), ["failed", "failed", "answered"]],
  ])("where it %s, the next one gets it", async (_, refusal, outcomes) => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(refusal, ...(outcomes.length === 3 ? [refusal] : []));
    const { receipt, operation } = await videos.made({ model: "test/two" });
    expect(receipt.offers.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect([receipt.provider, operation.provider]).toEqual(["two", "two"]);
    expect(videos.host.jobs.map(({ authorization }) => authorization)).toEqual(["Bearer secret-of-two"]);
    expect(videos.host.jobs[0]?.fetches).toBe(1);
  });

  test("where no provider takes it, the answer is the failure, with a receipt that costs nothing", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(refuses(429), refuses(429));
    const answer = await videos.submit({ model: "test/two" });
    expect(answer.status).toBe(429);
    const receipt = await videos.harness.receipt(answer);
    expect(receipt).toMatchObject({ cost_nano_usd: 0, usage: { seconds: null }, price_rule: "nothing used" });
    expect(receipt.offers.map(({ reason }) => reason)).toEqual(["rate_limited", "rate_limited"]);
    expect(videos.leftovers()).toEqual({});
  });

  test("choices 5: if it may have accepted the job, no other is tried, because there might be two videos", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push((reply) => reply.fail("broken"));
    const answer = await videos.submit({ model: "test/two" });
    expect([answer.status, videos.harness.upstream.requests.length]).toEqual([502, 1]);
  });

  test("if it certainly was not reached, it is tried again", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push((reply) => reply.fail("connect"));
    expect((await videos.submit()).status).toBe(200);
    expect(videos.host.jobs).toHaveLength(1);
  });

  test("an error about a field uses the client's name of it", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(refuses(400, "InputTextSensitiveContentDetected"));
    const answer = await videos.submit();
    expect(answer.status).toBe(400);
    expect(errorIn(answer).type).toBe("INVALID_ARGUMENT");
  });
});

describe("H23: a budget of 0.15 USD", () => {
  const CHEAP = 1_000_000;
  const HALF = 20_000_000;
  const EXPENSIVE = 40_000_000;
  const models = [
    videoModel("own/half", atPrice(HALF, "one")),
    videoModel("own/rising", atPrice(CHEAP, "one"), atPrice(EXPENSIVE, "two")),
    videoModel("own/cheap", atPrice(CHEAP, "one")),
    videoModel("own/expensive", atPrice(EXPENSIVE, "one")),
    { ...videoModel("own/cheaper-offer", atPrice(CHEAP, "one")), pricings: videoPrices(EXPENSIVE, EXPENSIVE) },
  ];
  const start = () => MemoryVideos.start({ config: { models } });
  const frugal = (model: string) => ({ model, key: KEYS.frugal });

  test("must hold the most expensive offer that may take it: one that costs more is left out (H58)", async () => {
    const videos = await start();
    videos.host.nextSubmits.push(refuses(503), refuses(503));
    const refused = await videos.submit(frugal("own/rising"));
    expect([refused.status, videos.host.jobs.length]).toEqual([503, 0]);
    expect(new Set(videos.harness.upstream.requests.map(({ url }) => new URL(url).host)).size).toBe(1);
    expect((await videos.submit(frugal("own/rising"))).status).toBe(200);
  });

  test("uses the price of the offer, regardless of other offers of the model", async () => {
    const videos = await start();
    expect((await videos.submit(frugal("own/expensive"))).status).toBe(402);
    expect((await videos.submit(frugal("own/cheaper-offer"))).status).toBe(200);
  });

  test("is not spent twice by submits at the same moment", async () => {
    const videos = await start();
    const sent = ["one", "two", "three"].map((prompt) => videos.send({ ...frugal("own/half"), prompt }).answer);
    const answers = await videos.clock.until(Promise.all(sent));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect(videos.host.jobs).toHaveLength(1);
  });

  test("is held from the submit until the end, and then spent", async () => {
    const videos = await start();
    const first = await videos.submit(frugal("own/half"));
    const again = { ...frugal("own/half"), prompt: "another" };
    expect([first.status, (await videos.submit(again)).status]).toEqual([200, 402]);
    await videos.ended(first.id);
    expect((await videos.harness.receipt(first)).cost_nano_usd).toBe(4 * HALF);
    expect((await videos.submit(again)).status).toBe(402);
  });

  test("is free again where nothing was made", async () => {
    const videos = await start();
    videos.host.stateOf = () => ({ state: "failed", reason: "no luck" });
    const first = await videos.submit(frugal("own/half"));
    await videos.ended(first.id);
    expect((await videos.harness.receipt(first)).cost_nano_usd).toBe(0);
    expect((await videos.submit({ ...frugal("own/half"), prompt: "another" })).status).toBe(200);
  });

  test("is free again where no offer took it", async () => {
    const videos = await start();
    videos.host.nextSubmits.push(refuses(400));
    expect((await videos.submit(frugal("own/half"))).status).toBe(400);
    expect((await videos.submit(frugal("own/half"))).status).toBe(200);
  });
});

describe("decision 0019: a store without space", () => {
  test("rejects before a provider is called, and nothing is billed", async () => {
    const lines: string[] = [];
    const videos = await MemoryVideos.start({
      config: { retention: { max_total_mb: 20, max_project_mb: 8 } },
      onLog: (line) => lines.push(line),
    });
    const empty = await videos.fillStore(4.5 * 1024 * 1024);
    const refused = await videos.submit();
    expect([refused.status, videos.host.jobs.length]).toEqual([503, 0]);
    expect(errorIn(refused).message).toContain("has used its share of the file store");
    expect(await videos.harness.receipts()).toEqual([]);
    await videos.clock.pass(1_000);
    expect(lines.find((line) => line.includes("To fix this, raise retention.max_total_mb"))).toBeDefined();
    await empty();
    expect((await videos.submit()).status).toBe(200);
  });
});

describe("a client that leaves while its video is submitted", () => {
  test("H24: does not cancel it; its repeated request gets the same operation, once", async () => {
    const videos = await MemoryVideos.start();
    const answered = Promise.withResolvers<void>();
    videos.host.nextSubmits.push(async (reply, request) => {
      const { id } = videos.host.take(request);
      await answered.promise;
      videos.harness.upstream.json({ id })(reply, request);
    });
    const lost = videos.send();
    await videos.clock.pass(100);
    lost.disconnect();
    await videos.clock.pass(100);
    answered.resolve();
    await videos.clock.pass(100);
    const heard = await videos.submit();
    expect(videos.host.jobs).toHaveLength(1);
    expect((await videos.ended(heard.id)).state).toBe("done");
    // Now the name was received: the same request again is a new one.
    expect((await videos.submit()).id).not.toBe(heard.id);
    expect(videos.host.jobs).toHaveLength(2);
  });

  test("two clients with the same request at the same moment get a video each", async () => {
    const videos = await MemoryVideos.start();
    const names = [videos.send(), videos.send()].map(async ({ answer }) => (await answer).text);
    const [first, second] = await videos.clock.until(Promise.all(names));
    expect(first).not.toBe(second ?? "");
    expect(videos.host.jobs).toHaveLength(2);
  });
});
