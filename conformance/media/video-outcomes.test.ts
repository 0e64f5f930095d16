import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { GenerateVideosOperation, Image } from "@google/genai";
import { drawImage } from "../../simulator/media-maker/draw-image.ts";
import { FAILURES, type SdkFailure } from "../support/sdk-failure.ts";
import {
  followToEnd,
  newerClient,
  receiptOf,
  startVideoHarness,
  type VideoClient,
  type VideoHarness,
} from "./video-harness.ts";
import { CONFIGURED_MODELS, parametersFor, VIDEO_MODELS, type VideoModel } from "./video-models.ts";

const LONG_MS = 60_000;

let harness: VideoHarness;
let client: VideoClient;
let frame: Image;

beforeAll(async () => {
  // A dead link is tried many times, at growing intervals, before its video fails.
  harness = await startVideoHarness({
    models: CONFIGURED_MODELS,
    timings: { mediaPollFactor: 0.0002 },
    // What matters here is whether there is a video, not what it shows.
    makeVideo: async () => new Uint8Array(1_000),
  });
  client = newerClient(harness.gateway);
  const image = await drawImage({ prompt: "frame", width: 640, height: 360, seed: 1, format: "png" });
  frame = { imageBytes: Buffer.from(image).toString("base64"), mimeType: "image/png" };
});
afterAll(() => harness.stop());

function submit(model: VideoModel, outcome: string, numberOfVideos = 1): Promise<GenerateVideosOperation> {
  const { id, frames } = model;
  const { durationSeconds, resolution } = parametersFor(model);
  const image = frames.endsWith("needed") ? { image: frame } : {};
  const config = { durationSeconds, resolution, numberOfVideos };
  return client.models.generateVideos({ model: id, source: { prompt: `${id} sim:${outcome}`, ...image }, config });
}

async function failureOf(model: VideoModel, outcome: string): Promise<SdkFailure> {
  const thrown: unknown = await submit(model, outcome).then(
    ({ name }) => new Error(`it was accepted as ${name}`),
    (error: unknown) => error,
  );
  return FAILURES.genai(thrown);
}

/** Ends without a video, and costs nothing. */
async function endOf(model: VideoModel, outcome: string): Promise<GenerateVideosOperation> {
  const submitted = await submit(model, outcome);
  const ended = await followToEnd(client, submitted);
  const receipt = await receiptOf(harness, submitted.name);
  expect({ outcome, cost: receipt.cost_nano_usd }).toEqual({ outcome, cost: 0 });
  expect(ended.response?.generatedVideos ?? []).toEqual([]);
  return ended;
}

/** What a provider reports immediately is a response to the submit. */
const AT_ONCE = [
  ["blocked", 400, "INVALID_ARGUMENT"],
  ["busy", 429, "RESOURCE_EXHAUSTED"],
  ["broken", 502, "UNAVAILABLE"],
  ["overloaded", 503, "UNAVAILABLE"],
  ["garbage", 502, "UNAVAILABLE"],
] as const;

const STATUS_WORDS: Readonly<Record<number, string>> = { 429: "RESOURCE_EXHAUSTED", 504: "DEADLINE_EXCEEDED" };

describe.each(VIDEO_MODELS.map((model) => [model.id, model] as const))("%s", (_, model) => {
  test("choices 4: an immediate refusal by the host is an error of the submit", async () => {
    await Promise.all(
      AT_ONCE.map(async ([outcome, usual, word]) => {
        const failure = await failureOf(model, outcome);
        const own = model.reports?.[outcome];
        const status = typeof own === "number" ? own : usual;
        const type = own === undefined ? word : STATUS_WORDS[status];
        expect({ outcome, ...failure }).toMatchObject({ outcome, class: "ApiError", status, ...(type && { type }) });
        expect(failure.message).not.toContain("<html");
      }),
    );
  });

  test("contract 7: a blocked video is a done operation without a video", async () => {
    const { error, response } = await endOf(model, "moderated");
    const reason = model.reports?.["moderated"];
    if (typeof reason === "string") {
      expect(error?.["message"]).toContain(reason);
      return;
    }
    expect(error).toBeUndefined();
    expect(response?.raiMediaFilteredCount).toBe(1);
    expect(response?.raiMediaFilteredReasons).toEqual([expect.stringMatching(/\w/)]);
  });

  test("choices 5: a job that fails ends its operation with an error", async () => {
    const { error, response } = await endOf(model, "fails");
    expect(response).toBeUndefined();
    expect(error?.["code"]).toBe(14);
    expect(String(error?.["message"])).toContain("could not finish the job: ");
  });

  test("a job that the host has forgotten is reported in the gateway's words, without the host's ids", async () => {
    const { error } = await endOf(model, "forgotten");
    const message = expect.stringMatching(/^Provider `\S+` no longer has the job: it has expired\.$/);
    expect(error).toEqual({ code: 14, message });
  });

  test(
    "contract 2.2: of two videos one is blocked, and the other is made",
    async () => {
      const submitted = await submit(model, "one-fails", 2);
      const ended = await followToEnd(client, submitted);
      expect(ended.response?.generatedVideos).toHaveLength(1);
      if (model.reports?.["moderated"] === undefined) expect(ended.response?.raiMediaFilteredCount).toBe(1);
      else expect(ended.metadata?.["failures"]).toHaveLength(1);
      const receipt = await receiptOf(harness, submitted.name);
      const one = receipt.usage["seconds"] ?? 0;
      expect(one).toBe(model.made.seconds);
    },
    LONG_MS,
  );
});

test(
  "a video with a dead link eventually fails, and its URL is not shown",
  async () => {
    await Promise.all(
      VIDEO_MODELS.map(async (model) => {
        const own = model.reports?.["expired"];
        if (own === "made") {
          const ended = await followToEnd(client, await submit(model, "expired"));
          expect(ended.response?.generatedVideos).toHaveLength(1);
          return;
        }
        const { error } = await endOf(model, "expired");
        const message = String(error?.["message"]);
        expect({ id: model.id, code: error?.["code"] }).toEqual({ id: model.id, code: 14 });
        expect(message).toContain(String(own ?? "HTTP status 403"));
        expect(message).not.toMatch(/https?:/);
      }),
    );
  },
  LONG_MS,
);

test(
  "a poll without a response is repeated: every video is made once, and stored",
  async () => {
    // One of each vendor: here, unlike above, all of them must be made. The gateway's own simulator is another one.
    const vendorOf = ({ id }: VideoModel) => id.slice(0, id.indexOf("/"));
    const models = VIDEO_MODELS.filter(
      (model, index) =>
        index === VIDEO_MODELS.findIndex((one) => vendorOf(one) === vendorOf(model)) && vendorOf(model) !== "sim",
    );
    const before = harness.simulator.stats().mediaJobs;
    await Promise.all(
      models.map(async (model) => {
        const submitted = await submit(model, "unsteady");
        const { response } = await followToEnd(client, submitted);
        expect({ id: model.id, videos: response?.generatedVideos?.length }).toEqual({ id: model.id, videos: 1 });
        const { usage } = await receiptOf(harness, submitted.name);
        expect(usage["seconds"]).toBe(model.made.seconds);
      }),
    );
    expect(harness.simulator.stats().mediaJobs - before).toBe(models.length);
  },
  LONG_MS,
);
