import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import { MemoryVideos, SILENT_NANO_USD, VIDEO_CONFIG, videoModel } from "../../../testing/memory-videos.ts";
import { VideoJobs } from "./video-jobs.ts";

const json =
  (value: unknown, status = 200): Script =>
  (reply) => {
    reply.head(status);
    void reply.write(JSON.stringify(value));
    reply.end();
  };

const sinceTaken = ({ host }: MemoryVideos) =>
  host.jobs[0]?.polledAtMs.map((at) => at - (host.jobs[0]?.takenAtMs ?? 0));

describe("a job is polled", () => {
  test("at its interval until it is done", async () => {
    const videos = await MemoryVideos.start();
    await videos.made();
    await videos.clock.pass(60_000);
    expect(sinceTaken(videos)).toEqual([10_000, 20_000, 30_000]);
    expect(videos.leftovers()).toEqual({});
  });

  test("H24: with the credential that submitted it, which also fetches its video if the API requires one", async () => {
    const videos = await MemoryVideos.start();
    await videos.made({ model: "test/api", parameters: { generateAudio: true } });
    const { requests } = videos.harness.upstream;
    expect(requests.length).toBeGreaterThan(3);
    for (const { headers } of requests) expect(headers["authorization"]).toBe("Bearer secret-of-api");
  });

  test("S07: a link to a video is fetched without the credential", async () => {
    const videos = await MemoryVideos.start();
    await videos.made();
    const fetched = videos.harness.upstream.requests.filter(({ url }) => url.endsWith("/video.mp4"));
    expect(fetched.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
  });

  test("again after a poll that failed, after longer and longer pauses", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextPolls.push(json({}, 500), (reply) => reply.fail("broken"), json({ id: "job-1" }));
    const { operation, receipt } = await videos.made();
    expect(operation.state).toBe("done");
    expect(operation.parts[0]?.failures).toBe(0);
    expect(receipt.cost_nano_usd).toBe(4 * SILENT_NANO_USD);
    const polls = videos.harness.upstream.requests.filter(
      ({ method, url }) => method === "GET" && url.includes("tasks"),
    );
    const times = polls.map(({ atMs }) => atMs - (videos.host.jobs[0]?.takenAtMs ?? 0));
    expect(times).toEqual([10_000, 30_000, 70_000, 130_000]);
  });

  test("again if no response arrives within a minute", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextPolls.push(() => {});
    const { operation } = await videos.made();
    expect(operation.state).toBe("done");
    expect(sinceTaken(videos)).toEqual([90_000]);
    expect(videos.leftovers()).toEqual({});
  });

  test("no longer if its host has forgotten it, without showing the host's message", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextPolls.push(json({ error: { code: "ResourceNotFound", message: "task job-1 is gone" } }, 404));
    const { submitted, receipt } = await videos.made();
    expect(await videos.poll(submitted.name)).toMatchObject({
      done: true,
      error: { code: 14, message: "Provider `one` no longer has the job: it has expired." },
    });
    expect(receipt.cost_nano_usd).toBe(0);
    expect(videos.harness.upstream.requests).toHaveLength(2);
  });

  test("nine times without success, and its operation fails with the last reason", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextPolls.push(
      ...Array.from({ length: 20 }, () => json({ error: { message: "no secret-of-one" } }, 400)),
    );
    const { operation, receipt } = await videos.made();
    expect(operation.state).toBe("failed");
    expect(operation.error?.message).toStartWith("no ");
    expect(operation.error?.message).not.toContain("secret-of-one");
    expect(videos.host.nextPolls).toHaveLength(11);
    expect(receipt.cost_nano_usd).toBe(0);
  });
});

describe("the result of a job", () => {
  test("S10: reasons are returned without the provider's secret", async () => {
    const videos = await MemoryVideos.start();
    videos.host.stateOf = () => ({ state: "blocked", reason: "key secret-of-one saw a fox" });
    const { submitted, operation, receipt } = await videos.made();
    expect(operation.state).toBe("done");
    const { response, error } = await videos.poll(submitted.name);
    expect(error).toBeUndefined();
    expect(response?.videos).toEqual([]);
    expect(response?.raiMediaFilteredCount).toBe(1);
    expect(response?.raiMediaFilteredReasons).toEqual([expect.stringMatching(/^key \S+ saw a fox$/)]);
    expect(response?.raiMediaFilteredReasons?.[0]).not.toContain("secret-of-one");
    expect(receipt.cost_nano_usd).toBe(0);

    videos.host.stateOf = () => ({ state: "failed", reason: "secret-of-one has no credit" });
    const failed = await videos.made({ prompt: "another" });
    expect(failed.operation.error?.message).toContain("has no credit");
    expect(failed.operation.error?.message).not.toContain("secret-of-one");
  });

  test("a video that the answer holds is stored like one that is fetched", async () => {
    const videos = await MemoryVideos.start();
    const { operation } = await videos.made({ model: "test/batch", parameters: { sampleCount: 2 } });
    const rows = await videos.rows("SELECT project, owner_id, mime_type, size FROM files");
    expect(rows).toEqual(
      Array.from({ length: 2 }, () => ({
        project: "default",
        owner_id: operation.id,
        mime_type: "video/mp4",
        size: 20,
      })),
    );
  });

  test("a link that is dead is tried nine times, and its video is not billed", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextFetches.push(...Array.from({ length: 20 }, () => json({}, 403)));
    const { operation, receipt } = await videos.made();
    expect(operation.state).toBe("failed");
    expect(operation.error?.message).toContain("HTTP status 403");
    expect(operation.error?.message).not.toContain("http:");
    expect(videos.host.nextFetches).toHaveLength(11);
    expect(receipt.cost_nano_usd).toBe(0);
  });

  test("a download that breaks off is begun anew, and nothing of it is left", async () => {
    const videos = await MemoryVideos.start();
    videos.host.nextFetches.push((reply) => {
      reply.head(200, { "content-type": "video/mp4" });
      void reply.write("half a vid");
      reply.fail("broken");
    });
    const { operation } = await videos.made();
    expect(operation).toMatchObject({ state: "done", parts: [{ videos: [{ mimeType: "video/mp4" }] }] });
    expect(await videos.rows("SELECT size FROM files")).toEqual([{ size: 20 }]);
  });
});

test("an operation whose job or model is unknown to us is not polled in the dark", async () => {
  const videos = await MemoryVideos.start({ polls: false });
  const { id } = await videos.submit();
  const jobs = new VideoJobs(videos.harness.gateway);
  const operation = await videos.stored(id);
  const [part] = operation.parts;
  if (part === undefined) throw new Error("an operation has a part");
  const { signal } = new AbortController();
  const { providerJob: _, ...jobless } = part;
  await expect(jobs.poll(operation, jobless, signal)).rejects.toThrow("a video job cannot be polled");
  const renamed = { ...operation, job: { ...operation.job, upstreamModel: "a-model-of-another-version" } };
  await expect(jobs.poll(renamed, part, signal)).rejects.toThrow("has changed since it accepted this job");
  expect(jobs.pollIntervalMs(renamed)).toBe(10_000);
  expect(videos.harness.upstream.requests).toHaveLength(1);
});

describe("H24: an operation is bound to the credential that submitted it", () => {
  const withProviders = (providers: object) => ({
    ...VIDEO_CONFIG,
    providers: { ...VIDEO_CONFIG.providers, ...providers },
  });
  const one = VIDEO_CONFIG.providers.one;

  /** The gateway's configuration changes while it runs. */
  async function reconfigure(videos: MemoryVideos, providers: object): Promise<void> {
    const other = await MemoryVideos.start({ config: withProviders(providers), polls: false });
    videos.harness.gateway.snapshot = other.harness.gateway.snapshot;
  }

  test("another key is not shown to the host for it; the first one brings it to its end", async () => {
    const videos = await MemoryVideos.start();
    const { id, name } = await videos.submit();
    await reconfigure(videos, { one: { ...one, api_key: "another" } });
    await videos.clock.pass(40_000);
    expect(sinceTaken(videos)).toEqual([]);
    expect(await videos.poll(name)).toEqual({ name });
    expect((await videos.stored(id)).parts[0]?.failures).toBe(2);
    await reconfigure(videos, {});
    expect((await videos.ended(id)).state).toBe("done");
    const asked = videos.harness.upstream.requests.map(({ headers }) => headers["authorization"]);
    expect(asked).not.toContain("Bearer another");
  });

  test("a provider that has another name now, and the same credential, brings it to its end", async () => {
    const videos = await MemoryVideos.start();
    const { id } = await videos.submit();
    const { one: _, ...others } = VIDEO_CONFIG.providers;
    const models = [videoModel("test/video", { provider: "renamed", model: "doubao-seedance-1-5-pro-251215" })];
    const config = { ...VIDEO_CONFIG, providers: { ...others, renamed: one }, models };
    const other = await MemoryVideos.start({ config, polls: false });
    videos.harness.gateway.snapshot = other.harness.gateway.snapshot;
    expect((await videos.ended(id)).state).toBe("done");
  });

  test("choices 8: one of several credentials is the one to poll, wherever it is in the list by then", async () => {
    const { api_key: _, ...without } = one;
    const listed = (...keys: string[]) => ({
      one: { ...without, credentials: keys.map((api_key) => ({ api_key })) },
    });
    const videos = await MemoryVideos.start({ config: withProviders(listed("key-a", "key-b")) });
    const { id } = await videos.submit();
    const [submitted] = videos.harness.upstream.requests;
    const before = submitted?.headers["authorization"];
    expect(before).toMatch(/^Bearer key-[ab]$/);
    await reconfigure(videos, listed("key-c", "key-b", "key-a"));
    expect((await videos.ended(id)).state).toBe("done");
    const asked = videos.harness.upstream.requests.filter(({ url }) => !url.endsWith("/video.mp4"));
    expect(new Set(asked.map(({ headers }) => headers["authorization"]))).toEqual(new Set([before]));
    expect(asked.length).toBeGreaterThan(2);
  });

  test("if the credential was removed it fails, and the error names the provider", async () => {
    const videos = await MemoryVideos.start();
    const { id } = await videos.submit();
    await reconfigure(videos, { one: { ...one, api_key: "another" } });
    expect(await videos.ended(id)).toMatchObject({
      state: "failed",
      error: {
        kind: "upstream_credentials",
        message: "The configuration of provider one has changed since it accepted this job.",
      },
    });
  });
});
