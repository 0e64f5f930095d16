import { describe, expect, test } from "bun:test";
import {
  MemoryVideos,
  SILENT_NANO_USD,
  SOUND_NANO_USD,
  TASK_MODEL,
  videoModel,
} from "../../../testing/memory-videos.ts";
import { errorIn } from "../../../testing/sent-call.ts";
import { costOfVideo } from "./fit-video.ts";

const SILENT_MODEL = "doubao-seedance-1-0-pro-250528";

describe("contract 2.1, 8: what was requested, or a 400 that lists what the model accepts", () => {
  test.each([
    [{ durationSeconds: 60 }, "parameters.durationSeconds", "4 to 12 seconds, not 60"],
    [{ aspectRatio: "7:5" }, "parameters.aspectRatio", "not 7:5"],
    [{ resolution: "4k" }, "parameters.resolution", "720p, 480p or 1080p, not 4k"],
    [{ fps: 30 }, "parameters.fps", "cannot be chosen"],
    [{ sampleCount: 5 }, "parameters.sampleCount", "one operation generates at most 4"],
  ])("%j", async (parameters, path, says) => {
    const videos = await MemoryVideos.start();
    const answer = await videos.submit({ parameters });
    const { error } = JSON.parse(answer.text) as { error: { details: { fieldViolations: { field: string }[] }[] } };
    expect([answer.status, videos.host.jobs.length]).toEqual([400, 0]);
    expect(error.details[0]?.fieldViolations[0]?.field).toBe(path);
    expect(errorIn(answer).message).toContain(`${path}: `);
    expect(errorIn(answer).message).toContain(says);
    expect(errorIn(answer).message).toContain("sampleCount" in parameters ? "5 videos" : "test/video");
  });

  test("an offer that can serve the request is called instead of one that cannot", async () => {
    const offers = [
      { provider: "one", model: SILENT_MODEL },
      { provider: "two", model: TASK_MODEL },
    ];
    const videos = await MemoryVideos.start({ config: { models: [videoModel("test/mixed", ...offers)] } });
    const loud = await videos.made({ model: "test/mixed", parameters: { generateAudio: true } });
    expect(loud.receipt.offers.map(({ provider }) => provider)).toEqual(["two"]);
    expect(loud.receipt.cost_nano_usd).toBe(4 * SOUND_NANO_USD);
    const silent = await videos.made({ model: "test/mixed" });
    expect(silent.receipt.offers.map(({ provider }) => provider)).toEqual(["one"]);
  });

  test("H09: a field that no adapter reads is noted by its path; one that it reads is sent", async () => {
    const videos = await MemoryVideos.start();
    const { submitted, receipt } = await videos.made({ parameters: { mood: "calm", camera_fixed: true } });
    expect(submitted.headers.get("x-trivium-dropped")).toBe("parameters.mood");
    expect(receipt.fields).toEqual([
      { path: "parameters.mood", action: "dropped", reason: "this model's provider does not support this field" },
    ]);
    expect(videos.host.jobs[0]?.request).toMatchObject({ camera_fixed: true });
  });

  test("a seed that the model does not take is folded, and noted by the client's name of it", async () => {
    const videos = await MemoryVideos.start();
    const { receipt } = await videos.made({ parameters: { seed: 4_294_967_296 } });
    expect(videos.host.jobs[0]?.request["seed"]).toBe(-1);
    expect(receipt.fields).toMatchObject([{ path: "parameters.seed", action: "approximated" }]);
  });

  test("absent fields have the model's defaults", async () => {
    const videos = await MemoryVideos.start();
    const path = "/api/genai/v1/publishers/test/models/video:predictLongRunning";
    await videos.harness.post(path, { instances: [{ prompt: "a fox" }] });
    expect(videos.host.jobs[0]?.request).toMatchObject({
      duration: 5,
      resolution: "720p",
      ratio: "16:9",
      generate_audio: true,
    });
  });
});

describe("contract 2.9: the cost of videos", () => {
  const item = (value: number, resolution?: string) => ({
    value,
    unit: "perSecond",
    currency: "USD",
    ...(resolution && { resolution }),
  });

  test("their seconds, by their sound, to the nano-dollar", () => {
    const pricings = { video: [item(SILENT_NANO_USD / 1e9)], audio_and_video: [item(SOUND_NANO_USD / 1e9)] } as never;
    const four = { seconds: 4, resolution: "720p" };
    expect(costOfVideo({ ...four, audio: false }, pricings)).toBe(4 * SILENT_NANO_USD);
    expect(costOfVideo({ ...four, audio: true }, pricings)).toBe(4 * SOUND_NANO_USD);
  });
});
