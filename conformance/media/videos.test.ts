import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { GenerateVideosOperation, Image } from "@google/genai";
import { drawImage } from "../../simulator/media-maker/draw-image.ts";
import { FAILURES } from "../support/sdk-failure.ts";
import { canDecodeFrames, ImageThumbnail, probeVideo, VideoEnds, type VideoFacts } from "./probe-video.ts";
import {
  followToEnd,
  KEYS,
  newerClient,
  olderClient,
  receiptOf,
  startVideoHarness,
  type VideoHarness,
} from "./video-harness.ts";
import { CONFIGURED_MODELS, EVERY_PARAMETER, parametersFor, VIDEO_MODELS, type VideoModel } from "./video-models.ts";

const LONG_MS = 60_000;
const PROMPT = "a fox";
const decoding = canDecodeFrames();

let harness: VideoHarness;
let frames: { first: Image; last: Image };
/** Undefined if frames cannot be decoded. */
let thumbnails: { first: ImageThumbnail; last: ImageThumbnail } | undefined;
const outcomes = new Map<string, string[]>();

beforeAll(async () => {
  harness = await startVideoHarness({ models: CONFIGURED_MODELS });
  const frame = async (seed: number): Promise<Image> => {
    const image = await drawImage({ prompt: "frame", width: 640, height: 360, seed, format: "png" });
    return { imageBytes: Buffer.from(image).toString("base64"), mimeType: "image/png" };
  };
  frames = { first: await frame(1), last: await frame(2) };
  if (decoding) {
    const [first, last] = [new ImageThumbnail(bytesOf(frames.first)), new ImageThumbnail(bytesOf(frames.last))];
    thumbnails = { first, last };
  }
});
afterAll(async () => {
  console.log(table());
  await harness.stop();
});

/** What each model made for each call, for readers of the log. */
function table(): string {
  const width = Math.max(...[...outcomes.keys()].map((id) => id.length));
  return [...outcomes].map(([id, cells]) => `${id.padEnd(width)}  ${cells.join("  ")}`).join("\n");
}

const note = (id: string, cell: string) => outcomes.set(id, [...(outcomes.get(id) ?? []), cell]);

async function videosOf(operation: GenerateVideosOperation): Promise<Uint8Array[]> {
  const videos = operation.response?.generatedVideos ?? [];
  return Promise.all(
    videos.map(async ({ video }) => {
      expect(video?.mimeType).toBe("video/mp4");
      const response = await fetch(video?.uri ?? "");
      expect(response.status).toBe(200);
      return response.bytes();
    }),
  );
}

const factsOf = async (operation: GenerateVideosOperation): Promise<VideoFacts[]> =>
  (await videosOf(operation)).map(probeVideo);

/** Two images of which one was made from the other differ by less than this, and any others by more. */
const ALIKE = 8;

const bytesOf = ({ imageBytes }: Image) => Buffer.from(imageBytes ?? "", "base64");

const needsFrame = ({ frames: taken }: VideoModel) => taken.endsWith("needed");
const withFirst = (model: VideoModel) => (needsFrame(model) ? { image: frames.first } : {});
const described = ({ width, height, seconds, fps, sound }: VideoFacts) =>
  `${width}x${height} ${seconds}s ${fps}fps ${sound ? "sound" : "silent"}`;

describe.each(VIDEO_MODELS.map((model) => [model.id, model] as const))("%s", (id, model) => {
  test(
    "contract 2.1: two videos under one name, with every parameter, by @google/genai 3",
    async () => {
      const client = newerClient(harness.gateway);
      const before = harness.simulator.stats().mediaJobs;
      const submitted = await client.models.generateVideos({
        model: id,
        source: { prompt: PROMPT, ...withFirst(model) },
        config: { ...parametersFor(model), numberOfVideos: 2 },
      });
      const publicId = id.split(":")[0] ?? "";
      expect(submitted.name).toStartWith(`publishers/${publicId.replace("/", "/models/")}/operations/`);
      const ended = await followToEnd(client, submitted);
      expect(ended.error).toBeUndefined();
      expect(await factsOf(ended)).toEqual([model.made, model.made]);
      const { seconds } = model.made;
      const receipt = await receiptOf(harness, submitted.name);
      expect(receipt).toMatchObject({ model: publicId, lane: "translated", usage_source: "measured" });
      expect(receipt.usage["seconds"]).toBe(2 * seconds);
      expect(receipt.cost_nano_usd).toBe(Math.round(2 * seconds * model.usdPerSecond * 1e9));
      expect(receipt.fields.map(({ path }) => path).sort()).toEqual([...model.notes]);
      // The simulator of `sim/` is the gateway's own, which counts for itself.
      const jobs = id === "sim/video" ? 0 : id.endsWith(":vertex") ? 1 : 2;
      expect(harness.simulator.stats().mediaJobs - before).toBe(jobs);
      note(id, `2 x ${described(model.made)}`);
    },
    LONG_MS,
  );

  test(
    "contract 2.1: one video, by @google/genai 1",
    async () => {
      const client = olderClient(harness.gateway);
      const call = { model: id, prompt: PROMPT, ...withFirst(model), config: parametersFor(model) };
      const submitted = await client.models.generateVideos(call);
      const ended = await followToEnd(client, submitted);
      expect(await factsOf(ended)).toEqual([model.made]);
      expect((await receiptOf(harness, submitted.name)).usage["seconds"]).toBe(model.made.seconds);
    },
    LONG_MS,
  );

  test(
    "contract 2.1: a first frame begins the video, or is refused by its path",
    async () => {
      const client = newerClient(harness.gateway);
      const { durationSeconds, resolution } = parametersFor(model);
      const config = { durationSeconds, resolution };
      const source = { prompt: PROMPT, image: frames.first };
      const asked = () => client.models.generateVideos({ model: id, source, config });
      if (model.frames === "none") return void (await expectRefusal(asked, "instances[0].image"));
      const submitted = await asked();
      const [video = new Uint8Array()] = await videosOf(await followToEnd(client, submitted));
      const made = probeVideo(video);
      // The video has the shape of the image, and is as long as one without it.
      expect(made.width / made.height).toBeCloseTo(16 / 9, 1);
      expect(made.seconds).toBe(model.made.seconds);
      if (thumbnails) expect(new VideoEnds(video).distanceOfFirst(thumbnails.first)).toBeLessThan(ALIKE);
      const { silentUsdPerSecond } = model;
      if (silentUsdPerSecond === undefined) return note(id, "first");
      expect(made.sound).toBe(false);
      const receipt = await receiptOf(harness, submitted.name);
      expect(receipt.cost_nano_usd).toBe(Math.round(model.made.seconds * silentUsdPerSecond * 1e9));
      note(id, "first");
    },
    LONG_MS,
  );

  test(
    "contract 2.1: a last frame ends the video, or is refused by its path",
    async () => {
      const client = newerClient(harness.gateway);
      const { durationSeconds, resolution } = parametersFor(model);
      const seconds = model.lastFrameSeconds ?? durationSeconds;
      const config = { durationSeconds: seconds, resolution, lastFrame: frames.last };
      const source = { prompt: PROMPT, image: frames.first };
      const asked = () => client.models.generateVideos({ model: id, source, config });
      if (model.frames === "none") return void (await expectRefusal(asked, "instances[0].image"));
      if (!/last|both/.test(model.frames)) return void (await expectRefusal(asked, "instances[0].lastFrame"));
      const [video = new Uint8Array()] = await videosOf(await followToEnd(client, await asked()));
      expect(probeVideo(video).seconds).toBe(model.lastFrameSeconds ?? model.made.seconds);
      if (thumbnails) {
        const ends = new VideoEnds(video);
        expect(ends.distanceOfFirst(thumbnails.first)).toBeLessThan(ALIKE);
        expect(ends.distanceOfLast(thumbnails.last)).toBeLessThan(ALIKE);
      }
      note(id, "last");
    },
    LONG_MS,
  );

  test("contract 2.1, 8: an unsupported parameter is refused by its path, and nothing is started", async () => {
    const client = newerClient(harness.gateway);
    for (const name of Object.keys(model.instead)) {
      const config = { ...parametersFor(model), [name]: EVERY_PARAMETER[name as keyof typeof EVERY_PARAMETER] };
      const source = { prompt: PROMPT, ...withFirst(model) };
      await expectRefusal(() => client.models.generateVideos({ model: id, source, config }), `parameters.${name}`);
    }
  });

  if (needsFrame(model))
    test("contract 2.1: a model that only animates images refuses text without one", async () => {
      const asked = () => newerClient(harness.gateway).models.generateVideos({ model: id, source: { prompt: PROMPT } });
      await expectRefusal(asked, "instances[0].image");
    });
});

async function expectRefusal(asked: () => Promise<unknown>, path: string): Promise<{ message: string }> {
  const before = harness.simulator.stats().mediaJobs;
  const thrown: unknown = await asked().then(
    () => undefined,
    (error: unknown) => error,
  );
  const failure = FAILURES.genai(thrown);
  expect(failure).toMatchObject({ class: "ApiError", status: 400, type: "INVALID_ARGUMENT" });
  expect(JSON.parse((thrown as Error).message).error.details[0].fieldViolations[0].field).toBe(path);
  expect(harness.simulator.stats().mediaJobs).toBe(before);
  return failure;
}

describe("prices", () => {
  const sora = { model: "openai/sora-2-pro", source: { prompt: PROMPT } };
  const seedance = { model: "bytedance/doubao-seedance-1-5-pro-251215", source: { prompt: PROMPT } };
  const priced = [
    ["720p with sound", sora, { durationSeconds: 4, resolution: "720p" }, 4 * 0.3],
    ["1080p with sound", sora, { durationSeconds: 4, resolution: "1080p" }, 4 * 0.5],
    ["480p, silent", seedance, { durationSeconds: 4, resolution: "480p", generateAudio: false }, 4 * 0.012],
    ["480p with sound", seedance, { durationSeconds: 4, resolution: "480p", generateAudio: true }, 4 * 0.024],
  ] as const;
  test.each(priced)(
    "contract 2.9: %s",
    async (_, call, config, usd) => {
      const client = newerClient(harness.gateway);
      const submitted = await client.models.generateVideos({ ...call, config });
      expect((await followToEnd(client, submitted)).response?.generatedVideos).toHaveLength(1);
      expect((await receiptOf(harness, submitted.name)).cost_nano_usd).toBe(Math.round(usd * 1e9));
    },
    LONG_MS,
  );
});

test("H09: a strict key is refused if the model cannot honour a setting, and nothing is started", async () => {
  const client = newerClient(harness.gateway, KEYS.strict);
  const before = harness.simulator.stats().mediaJobs;
  const asked = client.models.generateVideos({
    model: "openai/sora-2",
    source: { prompt: PROMPT },
    config: { seed: 1, durationSeconds: 4 },
  });
  const thrown: unknown = await asked.catch((error: unknown) => error);
  const failure = FAILURES.genai(thrown);
  expect(failure).toMatchObject({ status: 400, type: "INVALID_ARGUMENT" });
  expect(failure.message).toContain("parameters.seed");
  expect(harness.simulator.stats().mediaJobs).toBe(before);
});

describe("contract 2.1, 8: what was requested, or a 400 with the supported values", () => {
  const veo = "google/veo-3.1-generate-001";
  test.each([
    [{ durationSeconds: 60 }, "parameters.durationSeconds", "4, 6 or 8 seconds, not 60"],
    [{ aspectRatio: "1:1" }, "parameters.aspectRatio", "16:9 or 9:16, not 1:1"],
    [{ aspectRatio: "7:5" }, "parameters.aspectRatio", "16:9 or 9:16, not 7:5"],
    [{ resolution: "480p" }, "parameters.resolution", "720p, 1080p or 4k, not 480p"],
    [{ resolution: "1080p", durationSeconds: 4 }, "parameters.durationSeconds", "8 seconds with 1080p, not 4"],
    [{ fps: 30 }, "parameters.fps", "cannot be chosen"],
  ])("%j", async (config, path, says) => {
    const asked = () =>
      newerClient(harness.gateway).models.generateVideos({ model: veo, source: { prompt: PROMPT }, config });
    const failure = await expectRefusal(asked, path);
    expect(failure.message).toContain(`${path}: `);
    expect(failure.message).toContain(says);
    expect(failure.message).toContain(veo);
  });

  test(
    "an offer that supports the request is tried instead of one that does not",
    async () => {
      // The first offer in the catalogue always makes sound, the second on request.
      const client = newerClient(harness.gateway);
      const config = { durationSeconds: 4, generateAudio: false };
      const submitted = await client.models.generateVideos({ model: veo, source: { prompt: PROMPT }, config });
      await followToEnd(client, submitted);
      const receipt = await receiptOf(harness, submitted.name);
      expect(receipt).toMatchObject({ provider: "vertex", fields: [], offers: [{ provider: "vertex" }] });
    },
    LONG_MS,
  );
});

test("H24: every operation of this run has one receipt, and no video is without its file", () => {
  const { database } = harness;
  const operations = database.query("SELECT id, receipt_id, state, parts FROM operations").all() as {
    id: string;
    receipt_id: string;
    state: string;
    parts: string;
  }[];
  const receipts = database.query("SELECT id FROM receipts WHERE verb = 'videos'").all() as { id: string }[];
  expect(receipts.map(({ id }) => id).sort()).toEqual(operations.map(({ receipt_id }) => receipt_id).sort());
  const kept = new Set((database.query("SELECT id FROM files").all() as { id: string }[]).map(({ id }) => id));
  for (const { state, parts } of operations) {
    const videos = (JSON.parse(parts) as { videos: { file: string }[] }[]).flatMap((part) => part.videos);
    expect(state === "done" ? videos.length > 0 : videos.length === 0).toBe(true);
    for (const { file } of videos) expect(kept.has(file)).toBe(true);
  }
});
