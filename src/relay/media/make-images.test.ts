import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { ImageAdapter, MediaAnswer } from "../../media/adapter.ts";
import { answers, FLUX_URL, ImageGateway, PNG, PRICE_NANO_USD, readImages, refuses } from "./image-gateway.sample.ts";
import { makeImages } from "./make-images.ts";

const images = ImageGateway.forTests();
const FLUX = { model: "test/flux" };
const RESULT_URL = "https://results.test/fox.png";
const taken = answers({ id: "job-1", polling_url: `${FLUX_URL}/get_result?id=job-1` });
const pending = answers({ id: "job-1", status: "Pending" });
const ready = answers({ id: "job-1", status: "Ready", result: { sample: RESULT_URL } });

const keepResult = () =>
  images.harness.web.files.set(RESULT_URL, { bytes: Buffer.from(PNG, "base64"), mimeType: "image/png" });
const times = () =>
  images.harness.upstream.requests.map(({ atMs }) => atMs - (images.harness.upstream.requests[0]?.atMs ?? 0));

describe("a host that takes jobs", () => {
  test("is polled at its own interval until the image is ready", async () => {
    keepResult();
    images.play(taken, pending, pending, ready);
    const answer = await images.generated(FLUX);
    expect([answer.status, answer.made]).toEqual([200, [PNG]]);
    expect(times()).toEqual([0, 1_000, 2_000, 3_000]);
    expect(images.harness.upstream.requests.map(({ url }) => url.slice(FLUX_URL.length))).toEqual([
      "/flux-2-pro",
      ...new Array(3).fill("/get_result?id=job-1"),
    ]);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", usage_images: 1, cost_nano_usd: PRICE_NANO_USD }]);
  });

  test("is polled again, less and less often, if a poll fails, because the job continues", async () => {
    keepResult();
    images.play(taken, refuses(503), refuses(429), (reply) => reply.fail("broken"), pending, ready);
    const answer = await images.generated(FLUX);
    expect(answer.made).toEqual([PNG]);
    expect(times()).toEqual([0, 1_000, 3_000, 6_000, 10_000, 11_000]);
  });

  test("is given up after six failed polls in a row, and no provider is called a second time", async () => {
    images.play(taken, refuses(500));
    const answer = await images.generated(FLUX);
    expect([answer.status, images.sent.length]).toEqual([504, 7]);
    expect(answer.error?.message).toContain("could not be polled");
    expect(times().at(-1)).toBe(21_000);
  });

  test("five polls that fail are not too many", async () => {
    keepResult();
    images.play(taken, ...new Array(5).fill(refuses(500)), ready);
    expect((await images.generated(FLUX)).made).toEqual([PNG]);
  });

  test("a refusal of a poll that no time will change ends it", async () => {
    images.play(taken, refuses(401));
    const answer = await images.generated(FLUX);
    expect([answer.status, images.sent.length]).toEqual([502, 2]);
    expect(await images.rows()).toMatchObject([{ outcome: "upstream_credentials" }]);
  });

  test("a job that the host has forgotten is a failure, not a model that does not exist", async () => {
    images.play(taken, refuses(404), taken, refuses(404));
    const answer = await images.generated(FLUX);
    expect([answer.status, answer.error?.message]).toEqual([502, expect.stringContaining("no longer has the job")]);
  });

  test("a job that failed is a failure of its offer; the next one makes the image", async () => {
    const failed = answers({ id: "job-1", status: "Error", message: "out of memory" });
    images.play(taken, failed, taken, failed, images.paints());
    const answer = await images.generated({ model: "test/flux-or-two" });
    expect(answer.made).toEqual([PNG]);
    const { offers } = await images.harness.receipt(answer);
    expect(offers.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
      "flux failed",
      "flux failed",
      "two answered",
    ]);
  });

  test("H28: a job that is never ready is waited for ten minutes", async () => {
    images.play(taken, pending);
    const answer = await images.generated(FLUX);
    expect([answer.status, answer.error?.message]).toEqual([504, expect.stringContaining("longer than ten minutes")]);
    expect(answer.endMs).toBeWithin(600_000, 603_000);
    expect(images.sent).toHaveLength(602);
  });

  test("a poll without an answer is given up after a minute, and made again", async () => {
    keepResult();
    images.play(taken, () => {}, ready);
    expect((await images.generated(FLUX)).made).toEqual([PNG]);
    expect(times()).toEqual([0, 1_000, 63_000]);
  });

  test("a client that leaves between two polls pays for the image all the same", async () => {
    keepResult();
    images.play(taken, pending, ready);
    const call = images.generate(FLUX);
    await images.pass(1_500);
    call.disconnect();
    await images.pass(5_000);
    expect(await images.rows()).toMatchObject([
      { outcome: "client_gone", usage_images: 1, cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("a gateway that is stopped does not sleep on until the next poll", async () => {
    images.play(taken, pending);
    const call = images.generate(FLUX);
    await images.pass(1_500);
    const timers = images.harness.clock.timers;
    images.harness.gateway.closing = true;
    const answer = readImages(await images.harness.clock.until(call.answer));
    images.harness.gateway.closing = false;
    expect([answer.status, call.ms < 2_000, images.sent.length]).toEqual([503, true, 2]);
    await images.pass(200);
    expect(images.harness.clock.timers).toBeLessThan(timers);
  });
});

describe("poll intervals", () => {
  const waits = (afterMs?: number): ImageAdapter =>
    ({
      submit: () => ({ method: "POST", url: "/make", body: { json: {} } }),
      readSubmit: () => ({ state: "waiting", job: {}, ...(afterMs === undefined ? {} : { afterMs }) }),
      poll: () => ({ method: "GET", url: "/job" }),
      readPoll: () => ({ state: "done", reply: { results: [] } }),
      error: ({ status }: MediaAnswer) => new GatewayError("upstream_failed", String(status)),
    }) as unknown as ImageAdapter;

  async function msOf(adapter: ImageAdapter, pollFactor: number): Promise<number> {
    const { clock, send, streamMedia, snapshot } = images.harness.gateway;
    const provider = snapshot.providers.get("one")?.[0];
    if (!provider) throw new Error("no such provider");
    images.play(answers({}));
    const { signal } = new AbortController();
    const upstream = {
      clock,
      send,
      streamMedia,
      provider,
      adapter,
      upstreamModel: "m",
      jobName: "j",
      signal,
      pollFactor,
    };
    const startedAtMs = clock.nowMs();
    const call = { prompt: "a fox", count: 1, inputs: [], extras: {} };
    await images.harness.clock.until(makeImages(call, { ...upstream, begin: () => {} }));
    return clock.nowMs() - startedAtMs;
  }

  test("are two seconds apart unless the host sets another interval, times the operator's factor", async () => {
    expect(await msOf(waits(), 1)).toBe(2_000);
    expect(await msOf(waits(700), 1)).toBe(700);
    expect(await msOf(waits(700), 0.5)).toBe(350);
  });

  test("an adapter with jobs must be able to poll for them", async () => {
    for (const missing of ["poll", "readPoll"] as const) {
      const { [missing]: _, ...adapter } = waits();
      await expect(msOf(adapter as ImageAdapter, 1)).rejects.toThrow("must have poll and readPoll");
    }
  });
});
