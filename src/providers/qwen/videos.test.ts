import { describe, expect, test } from "bun:test";
import { adapterContext, jsonOf, mediaAnswer, PNG, thrownBy, videoCall } from "../media-adapters/media-calls.sample.ts";
import { videos } from "./videos.ts";

const JOB = { id: "task-1" };
const DATA_URL = `data:image/png;base64,${PNG.base64}`;

const submit = (fields: Parameters<typeof videoCall>[0], model: string) =>
  videos.submit(videoCall(fields), adapterContext(model));
const poll = (body: Parameters<typeof mediaAnswer>[0]) =>
  videos.readPoll?.(mediaAnswer(body), JOB, adapterContext("wan2.6-t2v"));

describe("providers 3.5: what is sent", () => {
  test("a video from text takes pixels up to 2.6", () => {
    const call = {
      seconds: 5,
      aspectRatio: "16:9",
      negativePrompt: "hounds",
      enhancePrompt: false,
      seed: 9,
      extras: { shot_type: "multi", audio_url: "https://example.com/a.mp3" },
    };
    const request = submit(call, "wan2.6-t2v");
    expect(request).toMatchObject({
      method: "POST",
      url: "/services/aigc/video-generation/video-synthesis",
      headers: { "x-dashscope-async": "enable" },
    });
    expect(jsonOf(request)).toEqual({
      model: "wan2.6-t2v",
      input: { prompt: "a red fox runs", negative_prompt: "hounds" },
      parameters: {
        watermark: false,
        shot_type: "multi",
        size: "1280*720",
        duration: 5,
        audio: true,
        seed: 9,
        prompt_extend: false,
      },
    });
  });

  test("a video from an image takes a resolution, and has the image's shape", () => {
    expect(jsonOf(submit({ image: PNG, resolution: "1080p", audio: false }, "wan2.6-i2v"))).toEqual({
      model: "wan2.6-i2v",
      input: { prompt: "a red fox runs", img_url: DATA_URL },
      parameters: { watermark: false, resolution: "1080P", duration: 8, audio: false },
    });
  });

  test("from 2.7 on frames are a list, and there is always sound", () => {
    expect(jsonOf(submit({ image: PNG, lastFrame: PNG }, "wan2.7-i2v"))).toEqual({
      model: "wan2.7-i2v",
      input: {
        prompt: "a red fox runs",
        media: [
          { type: "first_frame", url: DATA_URL },
          { type: "last_frame", url: DATA_URL },
        ],
      },
      parameters: { watermark: false, resolution: "720P", duration: 8 },
    });
    expect(jsonOf(submit({ aspectRatio: "9:16" }, "wan2.7-t2v"))["parameters"]).toMatchObject({
      resolution: "720P",
      ratio: "9:16",
    });
  });

  test("models for two frames name both", () => {
    expect(jsonOf(submit({ image: PNG, lastFrame: PNG }, "wan2.2-kf2v-flash"))["input"]).toMatchObject({
      first_frame_url: DATA_URL,
      last_frame_url: DATA_URL,
    });
  });

  test("a shape that a resolution does not have is refused, and the message lists those that it has", () => {
    const refusal = thrownBy(() => submit({ resolution: "720p", aspectRatio: "5:1" }, "wan2.6-t2v"));
    expect(refusal.kind).toBe("unsupported_parameter");
    expect(refusal.message).toMatch(/videos of 5:1 at 720p; supported there: 16:9, /);
  });
});

describe("providers 3.5: the state of a task", () => {
  test("a finished video, and what it is priced by", () => {
    const body = {
      output: { task_status: "SUCCEEDED", video_url: "https://files.example/1.mp4" },
      usage: { duration: 5, output_video_duration: 5, SR: 720, video_count: 1 },
    };
    expect(poll(body)).toEqual({
      state: "done",
      reply: {
        videos: [{ url: "https://files.example/1.mp4", mimeType: "video/mp4" }],
        filtered: [],
        seconds: 5,
        resolution: "720p",
      },
    });
  });

  test("contract 2.2: a blocked video is a finished job without one", () => {
    expect(poll({ output: { task_status: "FAILED", code: "DataInspectionFailed", message: "held back" } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["held back"] },
    });
  });

  test.each([
    [{ output: { task_status: "RUNNING" } }, { state: "waiting", job: JOB }],
    [
      { output: { task_status: "FAILED", code: "InvalidParameter", message: "duration" } },
      { state: "failed", error: { kind: "invalid_request", message: "duration" } },
    ],
    [{ output: { task_status: "UNKNOWN" } }, { state: "failed", error: { kind: "upstream_failed" } }],
  ])("%o", (body, expected) => {
    expect(poll(body)).toMatchObject(expected);
  });

  test.each(["<html></html>", { output: { task_status: "SUCCEEDED" } }])("%o is polled again", (body) => {
    expect(thrownBy(() => poll(body)).kind).toBe("upstream_failed");
  });
});

test.each([
  ["wan2.6-t2v", { image: false, lastFrame: false, audio: "chosen" }, 5],
  ["wan2.6-i2v", { image: true, lastFrame: false, imageOnly: true, audio: "chosen" }, 0],
  ["wan2.7-i2v", { image: true, lastFrame: true, imageOnly: true, audio: "always" }, 0],
])("providers 3.5: capabilities of %s", (model, capabilities, ratios) => {
  expect(videos.serves(model)).toBe(true);
  expect(videos.capabilities(model)).toMatchObject({ perJob: 1, ...capabilities });
  expect(videos.capabilities(model).ratios).toHaveLength(ratios);
});

test("providers 3.5: images, text and videos from videos are not served", () => {
  expect(["wan2.7-image", "wan2.2-t2i-flash", "wan2.6-r2v", "qwen3.7-plus"].filter(videos.serves)).toEqual([]);
});
