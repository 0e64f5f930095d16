import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
  videoCall,
} from "../media-adapters/media-calls.sample.ts";
import { zAiVideos } from "./videos.ts";

const context = adapterContext("cogvideox-3");
const job = { id: "t-1" };
const submit = (fields: Parameters<typeof videoCall>[0] = {}, model = "cogvideox-3") =>
  zAiVideos.submit(videoCall({ seconds: 5, audio: false, ...fields }), adapterContext(model));
const poll = (body: Parameters<typeof mediaAnswer>[0]) => zAiVideos.readPoll?.(mediaAnswer(body), job, context);

describe("providers 3.10: requests", () => {
  test("a video between two frames with every option", () => {
    const request = submit({
      image: PNG,
      lastFrame: JPEG,
      aspectRatio: "9:16",
      resolution: "1080p",
      seconds: 10,
      audio: true,
      fps: 60,
      extras: { quality: "speed", motion: 3 },
    });
    expect(request).toMatchObject({ method: "POST", url: "/videos/generations" });
    expect(jsonOf(request)).toEqual({
      quality: "speed",
      model: "cogvideox-3",
      prompt: "a red fox runs",
      image_url: [`data:image/png;base64,${PNG.base64}`, `data:image/jpeg;base64,${JPEG.base64}`],
      size: "1080x1920",
      duration: 10,
      with_audio: true,
      fps: 60,
      request_id: "job-0001",
    });
  });

  test("a video from text alone still sends size, length and silence", () => {
    expect(jsonOf(submit())).toEqual({
      model: "cogvideox-3",
      prompt: "a red fox runs",
      size: "1280x720",
      duration: 5,
      with_audio: false,
      request_id: "job-0001",
    });
  });

  test("one frame is a string, and the other family takes the shape separately from the size", () => {
    expect(jsonOf(submit({ image: PNG }))["image_url"]).toBe(`data:image/png;base64,${PNG.base64}`);
    const vidu = jsonOf(submit({ resolution: "1080p", aspectRatio: "1:1" }, "viduq1-text"));
    expect(vidu).toMatchObject({ size: "1920x1080", aspect_ratio: "1:1" });
    expect(vidu).not.toHaveProperty("with_audio");
  });
});

describe("providers 3.10: the life of a job", () => {
  test("it is polled by its id", () => {
    const body = { id: "t-1", model: "cogvideox-3", request_id: "job-0001", task_status: "PROCESSING" };
    expect(zAiVideos.readSubmit(mediaAnswer(body), videoCall(), context)).toEqual({ state: "waiting", job });
    expect(zAiVideos.poll?.({ id: "t/1" }, context)).toEqual({ method: "GET", url: "/async-result/t%2F1" });
    expect(thrownBy(() => zAiVideos.readSubmit(mediaAnswer("{}"), videoCall(), context)).kind).toBe("upstream_failed");
    const refused = mediaAnswer({ error: { code: "1301", message: "unsafe" } });
    expect(thrownBy(() => zAiVideos.readSubmit(refused, videoCall(), context)).kind).toBe("content_blocked");
  });

  test.each(["PROCESSING", "QUEUEING"])("state %s is waiting", (task_status) => {
    expect(poll({ model: "cogvideox-3", task_status })).toEqual({ state: "waiting", job });
  });

  test("a finished video is a link", () => {
    const video_result = [{ url: "https://files.example/a.mp4", cover_image_url: "https://files.example/a.png" }];
    expect(poll({ task_status: "SUCCESS", video_result })).toEqual({
      state: "done",
      reply: { videos: [{ url: "https://files.example/a.mp4", mimeType: "video/mp4" }], filtered: [] },
    });
  });

  test("contract 2.2: a video that the filter blocked is a finished job without a video", () => {
    expect(poll({ task_status: "FAIL", error: { code: "1301", message: "unsafe video" } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["unsafe video"] },
    });
  });

  test.each([{ task_status: "FAIL" }, { task_status: "FAIL", error: { code: "1234" } }, { task_status: "SUCCESS" }])(
    "a job that failed: %j",
    (body) => {
      expect(poll(body)).toMatchObject({ state: "failed", error: { kind: "upstream_failed" } });
    },
  );

  test("an answer that says nothing about the job is polled again", () => {
    expect(thrownBy(() => poll("<html>")).kind).toBe("upstream_failed");
    expect(thrownBy(() => poll({ error: { code: "1302", message: "slow down" } })).kind).toBe("rate_limited");
  });
});

test("contract 2.1: what each family can do", () => {
  expect(zAiVideos.capabilities("cogvideox-3")).toMatchObject({
    perJob: 1,
    seconds: [5, 10],
    audio: "chosen",
    defaultAudio: false,
    fps: [30, 60],
    image: true,
    lastFrame: true,
  });
  expect(zAiVideos.capabilities("vidu2-image")).toMatchObject({ image: true, imageOnly: true, lastFrame: false });
  expect(zAiVideos.capabilities("viduq1-start-end")).toMatchObject({ imageOnly: true, lastFrame: true });
  expect(["cogvideox-3", "viduq1-text", "vidu2-reference", "glm-image"].map(zAiVideos.serves)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
