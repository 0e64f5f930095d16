import { describe, expect, test } from "bun:test";
import { adapterContext, jsonOf, mediaAnswer, PNG, thrownBy, videoCall } from "../media-adapters/media-calls.sample.ts";
import { xAiVideos } from "./videos.ts";

const context = adapterContext("grok-imagine-video-1.5");
const job = { id: "r-1" };
const poll = (body: Parameters<typeof mediaAnswer>[0], status = 200) =>
  xAiVideos.readPoll?.(mediaAnswer(body, status), job, context);

describe("providers 3.9: requests", () => {
  test("a video from an image, and one from text alone", () => {
    const call = videoCall({
      image: PNG,
      aspectRatio: "9:16",
      extras: { reference_audios: [{ voice_id: "v" }], n: 4 },
    });
    const request = xAiVideos.submit(call, context);
    expect(request).toMatchObject({ method: "POST", url: "/videos/generations" });
    expect(jsonOf(request)).toEqual({
      reference_audios: [{ voice_id: "v" }],
      model: "grok-imagine-video-1.5",
      prompt: "a red fox runs",
      duration: 8,
      aspect_ratio: "9:16",
      resolution: "720p",
      image: { url: `data:image/png;base64,${PNG.base64}` },
    });
    expect(jsonOf(xAiVideos.submit(videoCall(), context))).toEqual({
      model: "grok-imagine-video-1.5",
      prompt: "a red fox runs",
      duration: 8,
      resolution: "720p",
    });
  });
});

describe("providers 3.9: the life of a job", () => {
  test("it is polled by its id", () => {
    expect(xAiVideos.readSubmit(mediaAnswer({ request_id: "r-1" }), videoCall(), context)).toEqual({
      state: "waiting",
      job,
    });
    expect(xAiVideos.poll?.({ id: "r/1" }, context)).toEqual({ method: "GET", url: "/videos/r%2F1" });
    expect(thrownBy(() => xAiVideos.readSubmit(mediaAnswer("{}"), videoCall(), context)).kind).toBe("upstream_failed");
    const refused = mediaAnswer({ error: { code: "moderation_blocked", message: "not this" } });
    expect(thrownBy(() => xAiVideos.readSubmit(refused, videoCall(), context)).kind).toBe("content_blocked");
  });

  test.each([
    [202, ""],
    [202, { status: "pending" }],
    [200, { status: "pending" }],
    [200, { status: "pondering" }],
  ])("HTTP %i %j is waiting", (status, body) => {
    expect(poll(body, status)).toEqual({ state: "waiting", job });
  });

  test("progress is reported", () => {
    expect(poll({ status: "pending", progress: 30 }, 202)).toEqual({ state: "waiting", job, progress: 30 });
  });

  test("a finished video is a link with its length", () => {
    const video = { url: "https://vidgen.example/a.mp4", duration: 6, respect_moderation: true };
    expect(poll({ status: "done", video, usage: { cost_in_usd_ticks: 1 } })).toEqual({
      state: "done",
      reply: {
        videos: [{ url: "https://vidgen.example/a.mp4", mimeType: "video/mp4" }],
        filtered: [],
        seconds: 6,
        audio: true,
      },
    });
  });

  test.each([
    { status: "done", video: { url: "", duration: 6, respect_moderation: false } },
    { status: "failed", error: { code: "moderation_blocked", message: "not this" } },
    { status: "done", error: { code: "moderation_blocked", message: "not this" } },
  ])("contract 2.2: moderation leaves a finished job without a video: %j", (body) => {
    expect(poll(body)).toMatchObject({ state: "done", reply: { videos: [], filtered: [expect.stringMatching(/./)] } });
  });

  test.each([
    [{ status: "failed", error: { code: "internal_error", message: "out of luck" } }, "out of luck"],
    [{ status: "failed" }, "no reason"],
    [{ status: "expired" }, "expired"],
    [{ status: "done", video: {} }, "does not contain a video"],
  ])("a job that failed: %j", (body, words) => {
    expect(poll(body)).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed", message: expect.stringContaining(words) },
    });
  });

  test("an answer that says nothing about the job is polled again", () => {
    expect(thrownBy(() => poll("<html>")).kind).toBe("upstream_failed");
    expect(thrownBy(() => poll({ code: "resource_exhausted", error: "slow down" })).kind).toBe("rate_limited");
  });
});

test("contract 2.1: later versions have 1080p", () => {
  expect(xAiVideos.capabilities("grok-imagine-video-1.5")).toMatchObject({ perJob: 1, image: true, lastFrame: false });
  expect(xAiVideos.capabilities("grok-imagine-video-1.5").resolutions).toContain("1080p");
  expect(["grok-imagine-video-1.5", "grok-imagine-image"].map(xAiVideos.serves)).toEqual([true, false]);
});
