import { describe, expect, test } from "bun:test";
import { adapterContext, jsonOf, mediaAnswer, PNG, thrownBy, videoCall } from "../media-adapters/media-calls.sample.ts";
import { videos } from "./videos.ts";

const MODEL = "doubao-seedance-1-5-pro-251215";
const CONTEXT = adapterContext(MODEL);
const JOB = { id: "cgt-1" };

const poll = (body: Parameters<typeof mediaAnswer>[0]) => videos.readPoll?.(mediaAnswer(body), JOB, CONTEXT);

describe("providers 3.3: what is sent", () => {
  test("a minimal call sends what prices depend on", () => {
    const request = videos.submit(videoCall({ aspectRatio: "16:9" }), CONTEXT);
    expect(request).toMatchObject({ method: "POST", url: "/contents/generations/tasks" });
    expect(jsonOf(request)).toEqual({
      watermark: false,
      model: MODEL,
      content: [{ type: "text", text: "a red fox runs" }],
      ratio: "16:9",
      resolution: "720p",
      duration: 8,
      generate_audio: true,
    });
  });

  test("contract 2.1: both frames, a seed, and host-specific fields; no callbacks", () => {
    const extras = { camera_fixed: true, watermark: true, callback_url: "https://example.com" };
    const call = videoCall({ image: PNG, lastFrame: PNG, seed: 3, audio: false, extras });
    const url = `data:image/png;base64,${PNG.base64}`;
    expect(jsonOf(videos.submit(call, adapterContext("doubao-seedance-1-0-pro-250528")))).toEqual({
      camera_fixed: true,
      watermark: true,
      model: "doubao-seedance-1-0-pro-250528",
      content: [
        { type: "text", text: "a red fox runs" },
        { type: "image_url", image_url: { url }, role: "first_frame" },
        { type: "image_url", image_url: { url }, role: "last_frame" },
      ],
      resolution: "720p",
      duration: 8,
      seed: 3,
    });
  });

  test("a job is polled by its id", () => {
    const readSubmit = (body: Parameters<typeof mediaAnswer>[0]) =>
      videos.readSubmit(mediaAnswer(body), videoCall(), CONTEXT);
    expect(readSubmit({ id: "cgt-1" })).toEqual({ state: "waiting", job: JOB });
    expect(videos.poll?.(JOB, CONTEXT)).toEqual({ method: "GET", url: "/contents/generations/tasks/cgt-1" });
    expect(thrownBy(() => readSubmit("<html></html>")).kind).toBe("upstream_failed");
  });
});

describe("providers 3.3: the state of a job", () => {
  test.each(["queued", "running", "a word of tomorrow"])("%s is waiting", (status) => {
    expect(poll({ id: "cgt-1", status })).toEqual({ state: "waiting", job: JOB });
  });

  test("a finished video, and what it is priced by", () => {
    const body = {
      id: "cgt-1",
      status: "succeeded",
      content: { video_url: "https://files.example/1.mp4" },
      resolution: "720p",
      duration: 5,
      generate_audio: true,
      usage: { completion_tokens: 108_900 },
    };
    expect(poll(body)).toEqual({
      state: "done",
      reply: {
        videos: [{ url: "https://files.example/1.mp4", mimeType: "video/mp4" }],
        filtered: [],
        seconds: 5,
        resolution: "720p",
        audio: true,
      },
    });
  });

  test("contract 2.2: a blocked video is a finished job without one", () => {
    const error = { code: "OutputVideoSensitiveContentDetected", message: "held back" };
    expect(poll({ status: "failed", error })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["held back"] },
    });
  });

  test.each([
    [{ status: "failed", error: { code: "InternalServiceError", message: "broken" } }, "upstream_failed"],
    [{ status: "expired", error: null }, "upstream_failed"],
    [{ status: "cancelled" }, "upstream_failed"],
  ])("%o has failed", (body, kind) => {
    expect(poll(body)).toMatchObject({ state: "failed", error: { kind } });
  });

  test.each(["<html></html>", {}, { status: "succeeded", content: {} }])("%o is polled again", (body) => {
    expect(thrownBy(() => poll(body)).kind).toBe("upstream_failed");
  });
});

test.each([
  ["doubao-seedance-2-0-260128", { audio: "chosen", image: true }],
  [MODEL, { audio: "chosen", defaultAudio: true, lastFrame: true }],
  ["doubao-seedance-1-0-pro-250528", { audio: "never" }],
] as const)("providers 3.3: capabilities of %s", (model, capabilities) => {
  expect(videos.serves(model)).toBe(true);
  expect(videos.capabilities(model)).toMatchObject({ perJob: 1, ...capabilities });
});
