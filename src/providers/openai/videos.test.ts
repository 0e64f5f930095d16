import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  formOf,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
  videoCall,
} from "../media-adapters/media-calls.sample.ts";
import { openaiVideos } from "./videos.ts";

const submit = (fields: Parameters<typeof videoCall>[0] = {}) =>
  openaiVideos.submit(videoCall(fields), adapterContext("sora-2-pro"));
const job = { id: "video_1" };
const poll = (body: Parameters<typeof mediaAnswer>[0], status = 200) =>
  openaiVideos.readPoll?.(mediaAnswer(body, status), job, adapterContext("sora-2"));

describe("providers 3.2: requests for videos", () => {
  test.each([
    ["720p", "16:9", "1280x720"],
    ["720p", "9:16", "720x1280"],
    ["1080p", "16:9", "1792x1024"],
    ["1080p", "9:16", "1024x1792"],
  ])("%s and %s are the size %s", (resolution, aspectRatio, size) => {
    const request = submit({ resolution, aspectRatio, extras: { remix_of: "x" } });
    expect(request).toMatchObject({ method: "POST", url: "/videos" });
    expect(jsonOf(request)).toEqual({ model: "sora-2-pro", prompt: "a red fox runs", seconds: "8", size });
  });

  test("a first frame makes it a form", () => {
    expect(formOf(submit({ image: PNG, aspectRatio: "9:16", seconds: 12 }))).toEqual([
      { name: "model", value: "sora-2-pro" },
      { name: "prompt", value: "a red fox runs" },
      { name: "seconds", value: "12" },
      { name: "size", value: "720x1280" },
      { name: "input_reference", fileName: "image.png", ...PNG },
    ]);
  });
});

describe("decision 0100: requests for videos from earlier ones", () => {
  const source = { id: "op", job: { id: "video/1" }, credential: "digest", seconds: 4 };

  test.each([
    ["remix", "/videos/video%2F1/remix", { prompt: "a red fox runs" }],
    ["edit", "/videos/edits", { prompt: "a red fox runs", video: { id: "video/1" } }],
    ["extend", "/videos/extensions", { prompt: "a red fox runs", video: { id: "video/1" }, seconds: "8" }],
  ] as const)("%s", (kind, url, json) => {
    const request = submit({ source: { kind, ...source }, seconds: 8 });
    expect(request).toMatchObject({ method: "POST", url });
    expect(jsonOf(request)).toEqual(json);
  });

  test("the length of an extended video is not what it adds", () => {
    const body = { id: "video_2", status: "queued" };
    const extension = videoCall({ source: { kind: "extend", ...source } });
    const state = openaiVideos.readSubmit(mediaAnswer(body), extension, adapterContext("sora-2"));
    if (state.state !== "waiting") throw new Error("it is not waiting");
    const done = mediaAnswer({ id: "video_2", status: "completed", seconds: "12", size: "1280x720" });
    const reply = openaiVideos.readPoll?.(done, state.job, adapterContext("sora-2"));
    expect(reply).toMatchObject({ state: "done", reply: { resolution: "720p" } });
    expect(JSON.stringify(reply)).not.toContain("seconds");
  });
});

describe("providers 3.2: the life of a job", () => {
  test("a new job is polled by its id", () => {
    const body = { id: "video_1", object: "video", status: "queued", progress: 0, seconds: "8", size: "720x1280" };
    const state = openaiVideos.readSubmit(mediaAnswer(body), videoCall(), adapterContext("sora-2"));
    expect(state).toEqual({ state: "waiting", job, progress: 0 });
    expect(openaiVideos.poll?.({ id: "video/1" }, adapterContext("sora-2"))).toEqual({
      method: "GET",
      url: "/videos/video%2F1",
    });
  });

  test.each(["queued", "in_progress", "resting"])("state %s is waiting, and so is an unknown state", (status) => {
    expect(poll({ id: "video_1", status, progress: 40 })).toEqual({ state: "waiting", job, progress: 40 });
  });

  test("a finished video needs the credential, and is priced by its real size and length", () => {
    expect(poll({ id: "video_1", status: "completed", progress: 100, seconds: "12", size: "1024x1792" })).toEqual({
      state: "done",
      reply: {
        videos: [{ url: "/videos/video_1/content", mimeType: "video/mp4", credential: true }],
        filtered: [],
        seconds: 12,
        resolution: "1080p",
        audio: true,
      },
    });
  });

  test("contract 2.2: a video that moderation blocked is a finished job without a video", () => {
    const error = { code: "moderation_blocked", message: "the video shows a person" };
    expect(poll({ id: "video_1", status: "failed", error })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["the video shows a person"] },
    });
  });

  test("a job that failed says why", () => {
    const state = poll({ id: "video_1", status: "failed", error: { code: "internal_error", message: "out of luck" } });
    expect(state).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed", message: "The provider could not finish the job: out of luck" },
    });
  });

  test.each(["<html>", {}, { status: "queued" }])("a response without a job is polled again: %p", (body) => {
    expect(thrownBy(() => poll(body)).kind).toBe("upstream_failed");
  });

  test.each([
    [400, { error: { code: "moderation_blocked", message: "not this" } }, "content_blocked"],
    [404, { error: { message: "no such video" } }, "not_found"],
    [429, { error: { code: "insufficient_quota", message: "pay" } }, "upstream_unfunded"],
  ])("HTTP %i %j is %s", (status, body, kind) => {
    expect<string>(openaiVideos.error(mediaAnswer(body, status)).kind).toBe(kind);
  });
});

test("contract 2.1: only the larger model makes large videos", () => {
  expect(openaiVideos.capabilities("sora-2").resolutions).toEqual(["720p"]);
  expect(openaiVideos.capabilities("sora-2-pro")).toMatchObject({
    perJob: 1,
    resolutions: ["720p", "1080p"],
    seconds: [4, 8, 12],
    audio: "always",
    lastFrame: false,
  });
  expect(["sora-2", "sora-2-pro-2026-01-01", "gpt-image-2"].map(openaiVideos.serves)).toEqual([true, true, false]);
});
