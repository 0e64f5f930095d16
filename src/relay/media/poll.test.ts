import { describe, expect, test } from "bun:test";
import { VIDEO_BYTES } from "../../../testing/hosts/memory-video-host.ts";
import { KEYS, MemoryVideos, type PolledVideo, SILENT_NANO_USD } from "../../../testing/memory-videos.ts";
import { errorIn } from "../../../testing/sent-call.ts";

const HOUR_MS = 3_600_000;

describe("contract 2.3: a poll", () => {
  test("reports the progress of the video without polling its provider", async () => {
    const videos = await MemoryVideos.start();
    videos.host.stateOf = () => ({ state: "running", progress: 40 });
    const { name } = await videos.submit({ model: "test/api", parameters: { generateAudio: true } });
    expect(await videos.poll(name)).toEqual({ name });
    await videos.clock.pass(10_000);
    const polls = videos.host.jobs[0]?.polledAtMs.length;
    for (let again = 0; again < 5; again++) {
      expect(await videos.poll(name)).toEqual({ name, metadata: { progressPercent: 40 } });
    }
    expect(videos.host.jobs[0]?.polledAtMs).toHaveLength(polls ?? 0);
  });

  test("has the URL of the video when it is made", async () => {
    const videos = await MemoryVideos.start();
    const { submitted } = await videos.made();
    const { response, error } = await videos.poll(submitted.name);
    expect(error).toBeUndefined();
    expect(response?.videos).toEqual([
      {
        gcsUri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/files\/file[0-9a-f]{32}\?expires=\d+&signature=/),
        mimeType: "video/mp4",
      },
    ]);
  });

  test("has the video itself with x-trivium-media: inline", async () => {
    const videos = await MemoryVideos.start();
    const { submitted } = await videos.made();
    const { response } = await videos.poll(submitted.name, { headers: { "x-trivium-media": "inline" } });
    const bytesBase64Encoded = Buffer.from(VIDEO_BYTES).toString("base64");
    expect(response?.videos).toEqual([{ bytesBase64Encoded, mimeType: "video/mp4" }]);
  });

  test("of a video whose file is gone has no URL of it, and neither its bytes", async () => {
    const videos = await MemoryVideos.start();
    const { submitted, operation } = await videos.made();
    const [video] = operation.parts.flatMap((part) => part.videos);
    await videos.harness.machine.fileStore.remove(video?.file ?? "");
    const inline = await videos.poll(submitted.name, { headers: { "x-trivium-media": "inline" } });
    expect(inline.response?.videos).toEqual([{ mimeType: "video/mp4" }]);
    await videos.rows("DELETE FROM files");
    expect((await videos.poll(submitted.name)).response?.videos).toEqual([{ mimeType: "video/mp4" }]);
  });

  test("of an operation that failed has the error and no video", async () => {
    const videos = await MemoryVideos.start();
    videos.host.stateOf = () => ({ state: "failed", reason: "no luck" });
    const { submitted } = await videos.made();
    const polled = await videos.poll(submitted.name);
    expect(polled).toEqual({
      name: submitted.name,
      done: true,
      error: { code: 14, message: expect.stringContaining("no luck") },
    });
  });

  test("H24: an operation that no client polls is settled all the same; polls afterwards make no second bill", async () => {
    const videos = await MemoryVideos.start();
    const { submitted, receipt } = await videos.made({ parameters: { sampleCount: 2, seed: 3 } });
    expect(receipt).toMatchObject({ usage: { seconds: 8 }, cost_nano_usd: 8 * SILENT_NANO_USD });
    const polls = Array.from({ length: 5 }, () => videos.sendPoll(submitted.name).answer);
    for (const { text } of await videos.clock.until(Promise.all(polls))) {
      expect((JSON.parse(text) as PolledVideo).response?.videos).toHaveLength(2);
    }
    expect(await videos.harness.receipts()).toEqual([receipt]);
  });

  test("S09: another project's operation looks like one that does not exist", async () => {
    const videos = await MemoryVideos.start();
    const { name, id } = await videos.submit();
    const refused = await videos.clock.until(videos.sendPoll(name, { key: KEYS.stranger }).answer);
    const unknown = await videos.clock.until(videos.sendPoll(name.replace(id, "never-was")).answer);
    expect([refused.status, unknown.status]).toEqual([404, 404]);
    expect(errorIn(unknown).message).toBe(errorIn(refused).message.replace(id, "never-was"));
    expect(errorIn(refused).message).toContain("Operations are kept for 48 hours after they end");
  });

  test("finds an operation until it expires, and not at that moment", async () => {
    const videos = await MemoryVideos.start({ config: { retention: { hours: 1 } } });
    const { submitted } = await videos.made();
    await videos.clock.pass(HOUR_MS - 1_000);
    expect((await videos.poll(submitted.name)).done).toBe(true);
    const { expiresAtMs = 0 } = await videos.stored(submitted.id);
    await videos.clock.pass(expiresAtMs - videos.clock.nowMs());
    const late = await videos.clock.until(videos.sendPoll(submitted.name).answer);
    expect(late.status).toBe(404);
  });

  test("holds its connection while the answer is made, and lets it rest then", async () => {
    const videos = await MemoryVideos.start();
    const { submitted } = await videos.made();
    const call = videos.sendPoll(submitted.name);
    await videos.clock.until(call.answer);
    const { held, rested } = call.connection;
    expect([held, rested]).toEqual([true, true]);
  });

  test("is a short body: a long one is not read", async () => {
    const videos = await MemoryVideos.start();
    const { name } = await videos.submit();
    const path = `/api/genai/v1/${name.split("/operations/")[0]}:fetchPredictOperation`;
    const sizeOf = async (bytes: number) => {
      const body = { operationName: name, padding: "" };
      body.padding = "x".repeat(bytes - JSON.stringify(body).length);
      return (await videos.harness.post(path, body)).status;
    };
    expect([await sizeOf(64 * 1024), await sizeOf(64 * 1024 + 1)]).toEqual([200, 413]);
    expect(videos.leftovers()).toEqual({});
  });

  test("shows that the client has received the name", async () => {
    const videos = await MemoryVideos.start();
    const { id, name } = await videos.submit();
    await videos.rows("UPDATE operations SET claimed = 0 WHERE id = ?", [id]);
    await videos.poll(name);
    expect((await videos.stored(id)).claimed).toBe(true);
  });
});
