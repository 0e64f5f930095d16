import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { Operation } from "../../canon/operation.ts";
import type { Form } from "../../wire/read-multipart.ts";
import { decodeCreate } from "./decode-create.ts";
import { decodeDerived } from "./decode-derived.ts";
import { encodeVideo } from "./encode-video.ts";
import { formBody } from "./form-body.ts";
import { operationIdIn, videoId } from "./video-id.ts";

const pathOf = (act: () => unknown): string | undefined => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return error.path;
    throw error;
  }
  throw new Error("nothing was refused");
};

const IMAGE = "data:image/png;base64,iVBORw0KGgo=";

describe("decision 0100: a request of the videos API", () => {
  test("becomes a canonical call, with the vendor's defaults", () => {
    expect(
      decodeCreate({ model: "m", prompt: "a fox", seconds: "8", size: "1280x720", watermark: true }),
    ).toMatchObject({
      call: {
        prompt: "a fox",
        seconds: 8,
        size: "1280x720",
        aspectRatio: "16:9",
        resolution: "720p",
        count: 1,
        defaults: { aspectRatio: "9:16", seconds: 4 },
        extras: { watermark: true },
      },
      links: [],
      notes: [],
    });
    expect(decodeCreate({ prompt: "a fox", seconds: 8, aspect_ratio: "1:1" }).call).toMatchObject({
      seconds: 8,
      aspectRatio: "1:1",
    });
  });

  test("has its first frame in the request, or by URL", () => {
    expect(decodeCreate({ prompt: "x", input_reference: IMAGE }).call.image?.mimeType).toBe("image/png");
    const linked = decodeCreate({ prompt: "x", input_reference: { image_url: "https://images.example/a.png" } });
    expect(linked.links).toEqual([{ url: "https://images.example/a.png", field: "image" }]);
    expect(linked.call.image).toBeUndefined();
  });

  test.each([
    [{}, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: "x", seconds: "0" }, "seconds"],
    [{ prompt: "x", size: "720p" }, "size"],
    [{ prompt: "x", size: "1280x720", resolution: "720p" }, "resolution"],
    [{ prompt: "x", input_reference: {} }, "input_reference.image_url"],
    [{ prompt: "x", input_reference: "ftp://a" }, "input_reference"],
  ])("%j is refused at %s", (body, path) => {
    expect(pathOf(() => decodeCreate(body))).toBe(path);
  });

  test("H12: a form is the same as JSON", () => {
    const text = (name: string, value: string) => ({ name, value });
    const form: Form = [
      text("prompt", "a fox"),
      text("seed", "7"),
      text("generate_audio", "True"),
      text("size", ""),
      text("input_reference[image_url]", "https://images.example/a.png"),
    ];
    expect(formBody(form)).toEqual({
      prompt: "a fox",
      seed: 7,
      generate_audio: true,
      input_reference: { image_url: "https://images.example/a.png" },
    });
    expect(pathOf(() => formBody([text("prompt", "a"), text("prompt", "b")]))).toBe("prompt");
    expect(pathOf(() => formBody([text("video", "a"), text("video[id]", "b")]))).toBe("video[id]");
  });

  test("for a video from another names it by its id", () => {
    const video = { id: "video_1" };
    expect(decodeDerived("remix", { prompt: "x" })).toEqual({ prompt: "x" });
    expect(decodeDerived("edit", { prompt: "x", video })).toEqual({ prompt: "x", videoId: "video_1" });
    expect(decodeDerived("extend", { prompt: "x", video, seconds: "8" })).toEqual({
      prompt: "x",
      videoId: "video_1",
      seconds: 8,
    });
    expect(pathOf(() => decodeDerived("edit", { prompt: "x", video: "data:video/mp4;base64,AAAA" }))).toBe("video");
    expect(pathOf(() => decodeDerived("edit", { prompt: "x" }))).toBe("video");
    expect(pathOf(() => decodeDerived("extend", { prompt: "x", video }))).toBe("seconds");
    expect(pathOf(() => decodeDerived("remix", {}))).toBe("prompt");
  });

  test("an id is the operation's", () => {
    expect(operationIdIn(videoId("a-b_c"))).toBe("a-b_c");
    for (const other of ["a-b_c", "video_", "video_a/b", `video_${"a".repeat(129)}`])
      expect(operationIdIn(other)).toBeUndefined();
  });
});

describe("decision 0100: an operation in the videos API", () => {
  const part = { state: "done", count: 1, dueAtMs: 0, failures: 0, videos: [], filtered: [] } as const;
  const operation = (fields: object): Operation =>
    ({
      id: "op",
      model: "test/video",
      state: "done",
      createdAtMs: 1_500,
      endedAtMs: 9_999,
      expiresAtMs: 20_000,
      job: { seconds: 4, count: 1 },
      parts: [{ ...part, videos: [{ file: "f", mimeType: "video/mp4" }] }],
      ...fields,
    }) as unknown as Operation;

  test("is completed, with times in seconds", () => {
    expect(encodeVideo(operation({ job: { seconds: 4, size: "1280x720", namedModel: "video" } }))).toEqual({
      id: "video_op",
      object: "video",
      model: "video",
      status: "completed",
      progress: 100,
      created_at: 1,
      completed_at: 9,
      expires_at: 20,
      prompt: null,
      size: "1280x720",
      seconds: "4",
      remixed_from_video_id: null,
      error: null,
    });
  });

  test.each([
    [
      { state: "submitting", parts: [] },
      { status: "queued", progress: 0, expires_at: null },
    ],
    [
      { state: "running", parts: [{ ...part, state: "waiting", progress: 40 }] },
      { status: "in_progress", progress: 40 },
    ],
    [
      { parts: [{ ...part, filtered: ["violence"] }] },
      { status: "failed", completed_at: null, error: { code: "content_filter", message: "violence" } },
    ],
    [
      { state: "failed", parts: [], error: { kind: "internal", message: "it broke" } },
      { status: "failed", error: { code: "server_error", message: "it broke" } },
    ],
    [
      { job: { seconds: 8, source: { id: "first", kind: "extend", seconds: 4 } } },
      { seconds: "12", remixed_from_video_id: "video_first" },
    ],
  ])("%j is %j", (fields, shown) => {
    expect(encodeVideo(operation(fields))).toMatchObject(shown);
  });
});
