import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  imageCall,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
  videoCall,
} from "../media-adapters/media-calls.sample.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

const headers = { "x-runway-version": "2024-11-06" };
const job = { id: "17f20503-6c24-4c16-946b-35dbbce2af2f" };
const png = `data:image/png;base64,${PNG.base64}`;
const jpeg = `data:image/jpeg;base64,${JPEG.base64}`;
const video = (model: string, fields: Parameters<typeof videoCall>[0] = {}) =>
  videos.submit(videoCall(fields), adapterContext(model));
const pollVideo = (body: Parameters<typeof mediaAnswer>[0]) =>
  videos.readPoll?.(mediaAnswer(body), job, adapterContext("gen4_turbo"));
const pollImage = (body: Parameters<typeof mediaAnswer>[0]) =>
  images.readPoll?.(mediaAnswer(body), job, adapterContext("gen4_image"));

describe("providers 3.7: requests for videos", () => {
  test("from an image, with every option", () => {
    const extras = { contentModeration: { publicFigureThreshold: "low" }, other: 1 };
    const request = video("gen4_turbo", { image: PNG, aspectRatio: "4:3", seconds: 10, seed: 3, extras });
    expect(request).toMatchObject({ method: "POST", url: "/image_to_video", headers });
    expect(jsonOf(request)).toEqual({
      contentModeration: { publicFigureThreshold: "low" },
      model: "gen4_turbo",
      promptText: "a red fox runs",
      promptImage: png,
      ratio: "1104:832",
      duration: 10,
      seed: 3,
    });
  });

  test("from text alone; sound is sent where it can be chosen", () => {
    expect(video("gen4.5").url).toBe("/text_to_video");
    expect(jsonOf(video("gen4.5", { seconds: 5 }))).toEqual({
      model: "gen4.5",
      promptText: "a red fox runs",
      ratio: "1280:720",
      duration: 5,
    });
    const extras = { contentModeration: {} };
    expect(jsonOf(video("veo3.1_fast", { resolution: "1080p", aspectRatio: "9:16", audio: false, extras }))).toEqual({
      model: "veo3.1_fast",
      promptText: "a red fox runs",
      ratio: "1080:1920",
      duration: 8,
      audio: false,
    });
  });

  test("a first and a last frame are a list", () => {
    expect(jsonOf(video("veo3.1", { image: PNG, lastFrame: JPEG }))["promptImage"]).toEqual([
      { uri: png, position: "first" },
      { uri: jpeg, position: "last" },
    ]);
  });

  test.each([
    ["gen4_turbo", { imageOnly: true, seconds: { min: 2, max: 10 }, audio: "never", takes: ["seed"] }],
    ["gen4.5", { ratios: ["16:9", "9:16"], image: true }],
    ["veo3.1", { seconds: [4, 6, 8], audio: "chosen", resolutions: ["720p", "1080p"] }],
    ["veo3", { seconds: [8], audio: "always" }],
  ])("capabilities of %s", (model, capabilities) => {
    expect(videos.serves(model)).toBe(true);
    expect(videos.capabilities(model)).toMatchObject(capabilities as never);
  });

  test("every shape and resolution of every model has its value", () => {
    for (const model of ["gen4_turbo", "gen4.5", "veo3", "veo3.1"]) {
      const { ratios, resolutions } = videos.capabilities(model);
      const all = resolutions.flatMap((resolution) =>
        ratios.map((aspectRatio) => jsonOf(video(model, { resolution, aspectRatio }))["ratio"]),
      );
      expect(new Set(all).size).toBe(resolutions.length * ratios.length);
    }
  });
});

describe("providers 3.7: requests for images", () => {
  test("with input images", () => {
    const call = imageCall({ pixels: { width: 1920, height: 1080 }, seed: 1, inputs: [PNG, JPEG] });
    const request = images.submit(call, adapterContext("gen4_image"));
    expect(request).toMatchObject({ method: "POST", url: "/text_to_image", headers });
    expect(jsonOf(request)).toEqual({
      model: "gen4_image",
      promptText: "a red fox",
      ratio: "1920:1080",
      seed: 1,
      referenceImages: [{ uri: png }, { uri: jpeg }],
    });
  });

  test("the turbo variant requires one", () => {
    const needed = ["gen4_image", "gen4_image_turbo"].map((model) => images.capabilities(model).imageOnly);
    expect(needed).toEqual([undefined, true]);
  });

  test("images and videos do not serve each other's models", () => {
    const models = ["gen4_image", "gen4_image_turbo", "gen4_turbo"];
    expect(models.filter(images.serves)).toEqual(["gen4_image", "gen4_image_turbo"]);
    expect(models.filter(videos.serves)).toEqual(["gen4_turbo"]);
  });
});

describe("providers 3.7: the life of a task", () => {
  test("it is polled by its id, with the version header of every request", () => {
    expect(videos.readSubmit(mediaAnswer(job), videoCall(), adapterContext("gen4.5"))).toEqual({
      state: "waiting",
      job,
    });
    expect(videos.poll?.({ id: "a/b" }, adapterContext("gen4.5"))).toEqual({
      method: "GET",
      url: "/tasks/a%2Fb",
      headers,
    });
    expect(
      thrownBy(() => images.readSubmit(mediaAnswer("[]"), imageCall(), adapterContext("gen4_image"))),
    ).toMatchObject({
      kind: "upstream_failed",
    });
  });

  test.each(["PENDING", "THROTTLED", "RESTING"])("state %s is waiting", (status) => {
    expect(pollVideo({ ...job, status })).toEqual({ state: "waiting", job });
  });

  test("progress is a fraction of one there", () => {
    expect(pollVideo({ ...job, status: "RUNNING", progress: 0.425 })).toEqual({
      state: "waiting",
      job,
      progress: 43,
    });
  });

  test("results are at URLs that need no credential", () => {
    const output = ["https://cdn.example/a?_jwt=1"];
    expect(pollVideo({ ...job, status: "SUCCEEDED", output })).toEqual({
      state: "done",
      reply: { videos: [{ url: "https://cdn.example/a?_jwt=1", mimeType: "video/mp4" }], filtered: [] },
    });
    expect(pollImage({ ...job, status: "SUCCEEDED", output })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url: "https://cdn.example/a?_jwt=1" } }], usage: { images: 1 } },
    });
  });

  test.each(["SAFETY.INPUT.TEXT", "SAFETY.OUTPUT.VIDEO", "INPUT_PREPROCESSING.SAFETY.TEXT"])(
    "%s is blocked by moderation",
    (failureCode) => {
      const body = { ...job, status: "FAILED", failure: "Not this.", failureCode };
      expect(pollVideo(body)).toEqual({ state: "done", reply: { videos: [], filtered: ["Not this."] } });
      expect(pollImage(body)).toEqual({
        state: "done",
        reply: { results: [{ kind: "filtered", reason: "Not this." }], usage: { images: 0 } },
      });
    },
  );

  test.each([
    [{ status: "FAILED", failure: "Oops.", failureCode: "INTERNAL.BAD_OUTPUT.CODE01" }, "upstream_failed"],
    [{ status: "FAILED", failure: "Too small.", failureCode: "ASSET.INVALID" }, "invalid_request"],
    [{ status: "FAILED" }, "upstream_failed"],
    [{ status: "CANCELLED" }, "upstream_failed"],
    [{ status: "SUCCEEDED", output: [] }, "upstream_failed"],
  ])("a failed task: %j", (body, kind) => {
    expect(pollVideo(body)).toMatchObject({ state: "failed", error: { kind } } as never);
    expect(pollImage(body)).toMatchObject({ state: "failed", error: { kind } } as never);
  });

  test("garbage is a failed poll", () => {
    expect(thrownBy(() => pollVideo("<html>"))).toMatchObject({ kind: "upstream_failed" });
  });

  test.each([
    [400, { error: "ratio is wrong" }, "invalid_request"],
    [401, { error: "Invalid API key" }, "upstream_credentials"],
    [404, { error: "no such task" }, "not_found"],
    [429, { error: "slow down" }, "rate_limited"],
    [502, "<html>", "upstream_failed"],
  ])("HTTP %d %j is %s", (status, body, kind) => {
    expect(videos.error(mediaAnswer(body, status)).kind).toBe(kind as never);
  });
});
