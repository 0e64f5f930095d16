import { describe, expect, test } from "bun:test";
import { adapterContext, jsonOf, mediaAnswer, PNG, thrownBy, videoCall } from "../media-adapters/media-calls.sample.ts";
import { videos } from "./videos.ts";

const submit = (fields: Parameters<typeof videoCall>[0], model = "kling-v3") =>
  videos.submit(videoCall(fields), adapterContext(model));
const poll = (body: Parameters<typeof mediaAnswer>[0]) =>
  videos.readPoll?.(mediaAnswer(body), { id: "t-1", path: "/v1/videos/text2video" }, adapterContext("kling-v3"));

describe("providers 3.4: what is sent", () => {
  test("contract 2.1: a video from text", () => {
    const extras = { cfg_scale: 0.5, callback_url: "https://example.com" };
    const request = submit({ aspectRatio: "9:16", negativePrompt: "hounds", extras });
    expect(request).toMatchObject({ method: "POST", url: "/v1/videos/text2video" });
    expect(jsonOf(request)).toEqual({
      watermark_info: { enabled: false },
      cfg_scale: 0.5,
      model_name: "kling-v3",
      prompt: "a red fox runs",
      negative_prompt: "hounds",
      mode: "std",
      duration: "8",
      sound: "on",
      aspect_ratio: "9:16",
      external_task_id: "job-0001",
    });
  });

  test("contract 2.1: a video between two images, as bare base64", () => {
    const call = { image: PNG, lastFrame: PNG, resolution: "1080p", seconds: 5, audio: false };
    const request = submit(call, "kling-v2-5-turbo");
    expect(request.url).toBe("/v1/videos/image2video");
    expect(jsonOf(request)).toEqual({
      watermark_info: { enabled: false },
      model_name: "kling-v2-5-turbo",
      prompt: "a red fox runs",
      mode: "pro",
      duration: "5",
      image: PNG.base64,
      image_tail: PNG.base64,
      external_task_id: "job-0001",
    });
  });

  test.each([
    [{}, "/v1/videos/text2video"],
    [{ image: PNG }, "/v1/videos/image2video"],
  ])("a task is polled where it was submitted", (fields, path) => {
    const accepted = mediaAnswer({ code: 0, data: { task_id: "t-1", task_status: "submitted" } });
    const state = videos.readSubmit(accepted, videoCall(fields), adapterContext("kling-v3"));
    expect(state).toEqual({ state: "waiting", job: { id: "t-1", path } });
    if (state.state !== "waiting") throw new Error("not waiting");
    expect(videos.poll?.(state.job, adapterContext("kling-v3"))).toEqual({ method: "GET", url: `${path}/t-1` });
  });
});

describe("providers 3.4: the state of a task", () => {
  test("a finished video, whose seconds are a string", () => {
    const task_result = { videos: [{ id: "v-1", url: "https://files.example/1.mp4", duration: "5" }] };
    expect(poll({ code: 0, data: { task_status: "succeed", task_result } })).toEqual({
      state: "done",
      reply: { videos: [{ url: "https://files.example/1.mp4", mimeType: "video/mp4" }], filtered: [], seconds: 5 },
    });
  });

  test("contract 2.2: a blocked video is a finished job without one", () => {
    const data = { task_status: "failed", task_status_msg: "it violates our policy" };
    expect(poll({ code: 0, data })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["it violates our policy"] },
    });
  });

  test("other failures are failures", () => {
    expect(poll({ code: 0, data: { task_status: "failed", task_status_msg: "internal trouble" } })).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed" },
    });
    expect(thrownBy(() => poll("<html></html>")).kind).toBe("upstream_failed");
  });
});

test.each([
  ["kling-v3", "chosen"],
  ["kling-v2-6", "chosen"],
  ["kling-v2-5-turbo", "never"],
  ["kling-v2-1", "never"],
] as const)("providers 3.4: %s has sound %s", (model, audio) => {
  expect(videos.capabilities(model)).toMatchObject({ perJob: 1, audio, ratios: ["16:9", "9:16", "1:1"] });
});
