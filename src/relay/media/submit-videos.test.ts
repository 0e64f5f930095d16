import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import { MemoryVideos, SILENT_NANO_USD, TASK_MODEL, videoModel } from "../../../testing/memory-videos.ts";
import { errorIn } from "../../../testing/sent-call.ts";

const json =
  (value: unknown, status = 200): Script =>
  (reply) => {
    reply.head(status);
    void reply.write(JSON.stringify(value));
    reply.end();
  };
const BUSY = json({ error: { code: "RateLimitExceeded", message: "slow down" } }, 429);
const BROKEN: Script = (reply) => reply.fail("broken");
const SILENT: Script = () => {};

const seedsOf = ({ host }: MemoryVideos) => host.jobs.map(({ request }) => request["seed"]);

describe("contract 2.1: several videos", () => {
  test("of a host that makes one at a time are as many jobs, with seeds that follow one another", async () => {
    const videos = await MemoryVideos.start();
    const { operation, receipt } = await videos.made({ parameters: { sampleCount: 3, seed: 4_294_967_294 } });
    expect(seedsOf(videos)).toEqual([4_294_967_294, 4_294_967_295, -1]);
    expect(operation.parts.map(({ state, count, videos: made }) => [state, count, made.length])).toEqual([
      ["done", 1, 1],
      ["done", 1, 1],
      ["done", 1, 1],
    ]);
    expect(receipt).toMatchObject({ usage: { seconds: 12 }, cost_nano_usd: 12 * SILENT_NANO_USD });
  });

  test("have no seeds if none was given", async () => {
    const videos = await MemoryVideos.start();
    await videos.submit({ parameters: { sampleCount: 2 } });
    expect(seedsOf(videos)).toEqual([undefined, undefined]);
  });

  test("of a host that makes four at a time are one job", async () => {
    const videos = await MemoryVideos.start();
    const { operation, receipt } = await videos.made({ model: "test/batch", parameters: { sampleCount: 4 } });
    expect(videos.host.jobs.map(({ count }) => count)).toEqual([4]);
    expect(operation.parts.map(({ count, videos: made }) => [count, made.length])).toEqual([[4, 4]]);
    expect(receipt).toMatchObject({ usage: { seconds: 16 }, cost_nano_usd: 16 * SILENT_NANO_USD });
  });

  test("a rejected job is reported, and the others are generated and billed", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(BUSY);
    const { submitted, operation, receipt } = await videos.made({ parameters: { sampleCount: 2 } });
    expect(operation).toMatchObject({ state: "done", parts: [{ state: "failed" }, { state: "done" }] });
    expect(operation.parts[0]?.uncertain).toBeUndefined();
    const { response, metadata } = await videos.poll(submitted.name);
    expect(response?.videos).toHaveLength(1);
    expect(metadata?.failures).toEqual([{ code: 8, message: expect.stringContaining("slow down") }]);
    expect(receipt).toMatchObject({ usage: { seconds: 4 }, cost_nano_usd: 4 * SILENT_NANO_USD });
  });

  test("choices 5: if one may have arrived and the other did not, neither is sent again", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(BUSY, BROKEN);
    const answer = await videos.submit({ model: "test/two", parameters: { sampleCount: 2 } });
    expect(answer.status).toBe(502);
    expect(errorIn(answer).message).toContain("closed the connection");
    expect(videos.harness.upstream.requests).toHaveLength(2);
  });
});

describe("H24: the operation is stored before its provider is called", () => {
  test("with the offer that is called, in the state asking", async () => {
    const videos = await MemoryVideos.start();
    const seen: unknown[] = [];
    const look: Script = async (reply, request) => {
      seen.push(...(await videos.rows("SELECT state, provider, parts FROM operations")));
      await json({ id: videos.host.take(request).id })(reply, request);
    };
    videos.host.nextSubmits.push(BUSY, look);
    await videos.submit({ model: "test/two" });
    expect(seen).toEqual([{ state: "submitting", provider: "two", parts: expect.stringContaining('"asking"') }]);
  });

  test("and each job as soon as it is accepted, while others are still in flight", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(
      (reply, request) => json({ id: videos.host.take(request).id })(reply, request),
      SILENT,
    );
    videos.send({ parameters: { sampleCount: 2 } });
    await videos.clock.pass(1_000);
    const [row] = await videos.rows("SELECT parts FROM operations");
    const parts = JSON.parse(String(row?.["parts"])) as { state: string; ticket?: object }[];
    expect(parts.map(({ state, ticket }) => [state, ticket])).toEqual([
      ["waiting", { id: "job-1" }],
      ["asking", undefined],
    ]);
  });
});

describe("the handle by which an accepted job is polled", () => {
  test("the default of ten seconds, or the host's own, times the configured factor", async () => {
    const videos = await MemoryVideos.start({ timings: { mediaPollFactor: 0.5 } });
    await videos.made();
    const [job] = videos.host.jobs;
    expect(job?.polledAtMs.map((atMs) => atMs - (job?.takenAtMs ?? 0))).toEqual([
      5_000, 10_000, 15_000, 20_000, 25_000,
    ]);
  });

  test("a host that is polled more often", async () => {
    const videos = await MemoryVideos.start({
      config: {
        providers: { quick: { kind: "runway", base_url: "http://upstream.localhost/quick", api_key: "secret" } },
        models: [videoModel("test/quick", { provider: "quick", model: "veo3.1" })],
      },
    });
    await videos.submit({ model: "test/quick" });
    const { clock, harness } = videos;
    await clock.pass(5_000);
    const polls = harness.upstream.requests.filter(({ method }) => method === "GET");
    expect(polls.map(({ atMs }) => atMs - (harness.upstream.requests[0]?.atMs ?? 0))).toEqual([5_000]);
  });
});

describe("an answer to a submit", () => {
  test("that does not arrive in time may mean a job", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(SILENT);
    const answer = await videos.submit({ model: "test/two", headers: { "idempotency-key": "a" } });
    expect([answer.status, answer.endMs, videos.harness.upstream.requests.length]).toEqual([504, 60_000, 1]);
    const [row] = await videos.rows("SELECT parts FROM operations");
    expect(JSON.parse(String(row?.["parts"]))).toMatchObject([{ state: "failed", uncertain: true }]);
  });

  test("that is a success without a job may mean one, and is not repeated", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(json({}));
    const answer = await videos.submit({ model: "test/two" });
    expect([answer.status, videos.harness.upstream.requests.length]).toEqual([502, 1]);
    expect(errorIn(answer).message).toBe("Provider `one`'s response does not contain the name of a job.");
    const [row] = await videos.rows("SELECT parts FROM operations");
    expect(JSON.parse(String(row?.["parts"]))).toMatchObject([{ uncertain: true }]);
  });

  test("that is a success with a rejection counts as one: the next offer is tried", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(json({ error: { code: "RateLimitExceeded", message: "slow down" } }));
    const { operation } = await videos.made({ model: "test/two" });
    expect(operation).toMatchObject({ provider: "two", state: "done" });
  });

  test("that reports a failed job is its failure", async () => {
    const videos = await MemoryVideos.start();
    const failed = { id: "job-1", status: "failed", error: { code: "invalid_value", message: "no such colour" } };
    videos.host.nextSubmits.push(json(failed), json(failed));
    const answer = await videos.submit({ model: "test/api", parameters: { generateAudio: true } });
    expect(answer.status).toBe(502);
    expect(errorIn(answer).message).toContain("no such colour");
    const [row] = await videos.rows("SELECT state, parts FROM operations");
    expect(row?.["state"]).toBe("failed");
    expect(String(row?.["parts"])).not.toContain("uncertain");
  });

  test("that reports a finished video cannot be trusted, and is not repeated", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(json({ id: "job-1", status: "completed" }));
    const answer = await videos.submit({ model: "test/api", parameters: { generateAudio: true } });
    expect([answer.status, videos.harness.upstream.requests.length]).toEqual([500, 1]);
    const [row] = await videos.rows("SELECT parts FROM operations");
    expect(JSON.parse(String(row?.["parts"]))).toMatchObject([{ uncertain: true }]);
  });

  test("S10: the provider's secret is in no error that is stored", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextSubmits.push(json({ error: { code: "x", message: "secret-of-one is no key" } }, 400));
    const answer = await videos.submit();
    expect(answer.text).not.toContain("secret-of-one");
    const [row] = await videos.rows("SELECT parts, error FROM operations");
    expect(JSON.stringify(row)).not.toContain("secret-of-one");
  });
});

test("the offer that took the job decides its price and its model", async () => {
  const dear = { value: 0.5, unit: "perSecond", currency: "USD" };
  const videos = await MemoryVideos.start({
    config: {
      models: [
        videoModel(
          "test/priced",
          { provider: "one", model: TASK_MODEL },
          { provider: "two", model: "doubao-seedance-1-0-pro-250528", pricings: { video: [dear] } },
        ),
      ],
    },
  });
  videos.host.nextSubmits.push(BUSY);
  const { receipt, operation } = await videos.made({ model: "test/priced" });
  expect(operation.job).toMatchObject({ upstreamModel: "doubao-seedance-1-0-pro-250528", seconds: 4, audio: false });
  expect(receipt).toMatchObject({ cost_nano_usd: 2_000_000_000, upstream_model: "doubao-seedance-1-0-pro-250528" });
});
