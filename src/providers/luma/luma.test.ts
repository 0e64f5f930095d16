import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  imageCall,
  jsonOf,
  mediaAnswer,
  thrownBy,
  videoCall,
} from "../media-adapters/media-calls.sample.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

const job = { id: "gen-1" };
const video = (body: Parameters<typeof mediaAnswer>[0]) =>
  videos.readPoll?.(mediaAnswer(body), job, adapterContext("ray-2"));
const image = (body: Parameters<typeof mediaAnswer>[0]) =>
  images.readPoll?.(mediaAnswer(body), job, adapterContext("photon-1"));

describe("providers 3.8: requests", () => {
  test("for a video, with the host's own fields for images at public URLs", () => {
    const keyframes = { frame0: { type: "image", url: "https://images.example/a.jpg" } };
    const request = videos.submit(
      videoCall({
        seconds: 9,
        resolution: "1080p",
        aspectRatio: "21:9",
        extras: { loop: true, keyframes, callback_url: "https://elsewhere.example" },
      }),
      adapterContext("ray-2"),
    );
    expect(request).toMatchObject({ method: "POST", url: "/generations" });
    expect(jsonOf(request)).toEqual({
      loop: true,
      keyframes,
      model: "ray-2",
      prompt: "a red fox runs",
      resolution: "1080p",
      duration: "9s",
      aspect_ratio: "21:9",
    });
  });

  test("for an image", () => {
    const image_ref = [{ url: "https://images.example/a.jpg", weight: 0.85 }];
    const request = images.submit(
      imageCall({ aspectRatio: "16:9", extras: { image_ref } }),
      adapterContext("photon-1"),
    );
    expect(request).toMatchObject({ method: "POST", url: "/generations/image" });
    expect(jsonOf(request)).toEqual({ image_ref, model: "photon-1", prompt: "a red fox", aspect_ratio: "16:9" });
    expect(jsonOf(images.submit(imageCall(), adapterContext("photon-flash-1")))).toEqual({
      model: "photon-flash-1",
      prompt: "a red fox",
    });
  });

  test("images in a request are refused: the host reads public URLs only", () => {
    expect(videos.capabilities("ray-2")).toMatchObject({
      image: false,
      lastFrame: false,
      seconds: [5, 9],
      audio: "never",
    });
    expect(images.capabilities("photon-1")).toMatchObject({ maxInputs: 0, mask: false, perCall: 1 });
  });

  test("each adapter serves its own models", () => {
    const models = ["ray-2", "ray-flash-2", "photon-1", "photon-flash-1"];
    expect(models.filter(videos.serves)).toEqual(["ray-2", "ray-flash-2"]);
    expect(models.filter(images.serves)).toEqual(["photon-1", "photon-flash-1"]);
  });
});

describe("providers 3.8: the life of a generation", () => {
  test.each(["queued", "dreaming", "resting"])("state %s is waiting, from the submit on", (state) => {
    const waiting = { state: "waiting" as const, job };
    expect(videos.readSubmit(mediaAnswer({ ...job, state }), videoCall(), adapterContext("ray-2"))).toEqual(waiting);
    expect(video({ ...job, state, assets: null })).toEqual(waiting);
  });

  test("videos and images are polled at one path", () => {
    expect(videos.poll?.({ id: "a/b" }, adapterContext("ray-2"))).toEqual({ method: "GET", url: "/generations/a%2Fb" });
    expect(images.poll?.(job, adapterContext("photon-1"))).toEqual({ method: "GET", url: "/generations/gen-1" });
  });

  test("what was made", () => {
    expect(video({ ...job, state: "completed", assets: { video: "https://cdn.example/a.mp4" } })).toEqual({
      state: "done",
      reply: { videos: [{ url: "https://cdn.example/a.mp4", mimeType: "video/mp4" }], filtered: [] },
    });
    expect(image({ ...job, state: "completed", assets: { image: "https://cdn.example/a.jpg" } })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url: "https://cdn.example/a.jpg" } }], usage: { images: 1 } },
    });
  });

  test("what moderation blocked", () => {
    const body = { ...job, state: "failed", failure_reason: "400: prompt not allowed by advanced moderation" };
    const reason = "400: prompt not allowed by advanced moderation";
    expect(video(body)).toEqual({ state: "done", reply: { videos: [], filtered: [reason] } });
    expect(image(body)).toEqual({
      state: "done",
      reply: { results: [{ kind: "filtered", reason }], usage: { images: 0 } },
    });
  });

  test.each([
    [{ ...job, state: "failed", failure_reason: "Job timed out" }],
    [{ ...job, state: "failed" }],
    [{ ...job, state: "completed", assets: {} }],
  ])("what failed: %j", (body) => {
    expect(video(body)).toMatchObject({ state: "failed", error: { kind: "upstream_failed" } });
    expect(image(body)).toMatchObject({ state: "failed", error: { kind: "upstream_failed" } });
  });

  test("garbage is a failed poll", () => {
    expect(thrownBy(() => video("<html>"))).toMatchObject({ kind: "upstream_failed" });
  });

  test.each([
    [400, { detail: "duration is wrong" }, "invalid_request", "duration is wrong"],
    [422, { detail: [{ loc: ["body", "model"], msg: "unknown" }] }, "invalid_request", "body.model: unknown"],
    [400, { detail: "Prompt failed moderation" }, "content_blocked", "Prompt failed moderation"],
    [401, { detail: "Not authenticated" }, "upstream_credentials", "gateway's credentials"],
    [429, { detail: "slow down" }, "rate_limited", "slow down"],
    [500, "<html>", "upstream_failed", "HTTP 500"],
  ])("HTTP %d %j is %s", (status, body, kind, words) => {
    const error = videos.error(mediaAnswer(body, status));
    expect(error.kind).toBe(kind as never);
    expect(error.message).toContain(words);
  });
});
