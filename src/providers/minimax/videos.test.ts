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
import { minimaxAdapters } from "./adapters.ts";
import { h3 } from "./h3.ts";
import { hailuo } from "./hailuo.ts";

const HAILUO = "MiniMax-Hailuo-2.3";
const ok = { status_code: 0, status_msg: "success" };
const png = `data:image/png;base64,${PNG.base64}`;
const jpeg = `data:image/jpeg;base64,${JPEG.base64}`;

test("both versions are below the host, whatever the version in the provider's base URL", () => {
  expect(minimaxAdapters.base?.("https://api.minimax.io/v1")).toBe("https://api.minimax.io");
  expect(minimaxAdapters.base?.("http://127.0.0.1:1/hosts/minimax/v1")).toBe("http://127.0.0.1:1/hosts/minimax");
});

test.each([
  [HAILUO, hailuo],
  ["T2V-01", hailuo],
  ["I2V-01-live", hailuo],
  ["MiniMax-H3", h3],
  ["MiniMax-M3", undefined],
  ["image-01", undefined],
])("%s has its adapter", (model, adapter) => {
  expect(minimaxAdapters.videos?.find(({ serves }) => serves(model))).toBe(adapter as never);
});

describe("providers 3.6: the first version", () => {
  const taskJob = { taskId: "106916112212032" };
  const fileJob = { taskId: "106916112212032", fileId: "176844028768320" };
  const poll = (body: Parameters<typeof mediaAnswer>[0], job: Record<string, string> = taskJob) =>
    hailuo.readPoll?.(mediaAnswer(body), job, adapterContext(HAILUO));

  test("requests, whole and smallest", () => {
    const whole = hailuo.submit(
      videoCall({
        image: PNG,
        lastFrame: JPEG,
        seconds: 6,
        resolution: "1080p",
        enhancePrompt: true,
        extras: { fast_pretreatment: true, callback_url: "https://elsewhere.example" },
      }),
      adapterContext("MiniMax-Hailuo-02"),
    );
    expect(whole).toMatchObject({ method: "POST", url: "/v1/video_generation" });
    expect(jsonOf(whole)).toEqual({
      fast_pretreatment: true,
      model: "MiniMax-Hailuo-02",
      prompt: "a red fox runs",
      duration: 6,
      resolution: "1080P",
      first_frame_image: png,
      last_frame_image: jpeg,
      prompt_optimizer: true,
      aigc_watermark: false,
    });
    expect(jsonOf(hailuo.submit(videoCall({ seconds: 6, resolution: "768p" }), adapterContext(HAILUO)))).toEqual({
      model: HAILUO,
      prompt: "a red fox runs",
      duration: 6,
      resolution: "768P",
      prompt_optimizer: false,
      aigc_watermark: false,
    });
  });

  test("a video takes three steps: the task, its file, the file's URL", () => {
    const order = mediaAnswer({ task_id: taskJob.taskId, base_resp: ok });
    expect(hailuo.readSubmit(order, videoCall(), adapterContext(HAILUO))).toEqual({
      state: "waiting",
      job: taskJob,
    });
    expect(hailuo.poll?.(taskJob, adapterContext(HAILUO))).toEqual({
      method: "GET",
      url: "/v1/query/video_generation?task_id=106916112212032",
    });
    const success = { task_id: taskJob.taskId, status: "Success", file_id: fileJob.fileId, base_resp: ok };
    expect(poll(success)).toEqual({ state: "waiting", job: fileJob, afterMs: 0 });
    expect(hailuo.poll?.(fileJob, adapterContext(HAILUO))).toEqual({
      method: "GET",
      url: "/v1/files/retrieve?file_id=176844028768320",
    });
    const file = { file_id: 176844028768320, bytes: 1, download_url: "https://cdn.example/video.mp4?sig=1" };
    expect(poll({ file, base_resp: ok }, fileJob)).toEqual({
      state: "done",
      reply: { videos: [{ url: "https://cdn.example/video.mp4?sig=1", mimeType: "video/mp4" }], filtered: [] },
    });
  });

  test("an id too large for a JSON number keeps its last digits", () => {
    expect(poll('{"status":"Success","file_id":9007199254740993,"base_resp":{"status_code":0}}')).toMatchObject({
      job: { fileId: "9007199254740993" },
    });
  });

  test.each(["Preparing", "Queueing", "Processing", "Resting"])("state %s is waiting", (status) => {
    expect(poll({ task_id: "1", status, file_id: "", base_resp: ok })).toEqual({
      state: "waiting",
      job: taskJob,
    });
  });

  test("a failed task has failed, one that moderation stopped is a blocked video", () => {
    expect(poll({ status: "Fail", base_resp: { status_code: 1000, status_msg: "unknown error" } })).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed", message: "The provider could not finish the job: unknown error" },
    });
    expect(poll({ status: "Fail", base_resp: ok })).toMatchObject({
      state: "failed",
      error: { kind: "upstream_failed" },
    });
    expect(poll({ status: "Fail", base_resp: { status_code: 1027, status_msg: "output sensitive" } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["output sensitive"] },
    });
  });

  test("a failed poll is not a failed job", () => {
    const limited = { base_resp: { status_code: 1002, status_msg: "rate limit" } };
    expect(thrownBy(() => poll(limited))).toMatchObject({ kind: "rate_limited" });
    expect(thrownBy(() => poll(limited, fileJob))).toMatchObject({ kind: "rate_limited" });
    expect(thrownBy(() => poll("<html>", fileJob))).toMatchObject({ kind: "upstream_failed" });
  });

  test.each([
    [{ base_resp: { status_code: 1026, status_msg: "sensitive" } }, "content_blocked"],
    [{ base_resp: { status_code: 2013, status_msg: "1080P takes 6 s" } }, "invalid_request"],
    [{ task_id: "", base_resp: ok }, "upstream_failed"],
  ])("a submit that HTTP 200 refuses: %j", (body, kind) => {
    expect(thrownBy(() => hailuo.readSubmit(mediaAnswer(body), videoCall(), adapterContext(HAILUO))).kind).toBe(kind);
  });

  test.each([
    [HAILUO, { resolutions: ["768p", "1080p"], seconds: [6, 10], audio: "never", ratios: [], lastFrame: false }],
    ["MiniMax-Hailuo-2.3-Fast", { imageOnly: true }],
    ["MiniMax-Hailuo-02", { lastFrame: true }],
    ["T2V-01-Director", { image: false, resolutions: ["720p"], seconds: [6] }],
    ["I2V-01", { image: true, imageOnly: true }],
  ])("capabilities of %s", (model, capabilities) => {
    expect(hailuo.capabilities(model)).toMatchObject(capabilities as never);
  });
});

describe("providers 3.6: the second version", () => {
  const job = { taskId: "task-1" };
  const context = adapterContext("MiniMax-H3");
  const poll = (task: object) => h3.readPoll?.(mediaAnswer({ task }), job, context);

  test("images are nested and have a role", () => {
    const request = h3.submit(
      videoCall({ image: PNG, lastFrame: JPEG, aspectRatio: "9:16", resolution: "2k", seconds: 15 }),
      context,
    );
    expect(request).toMatchObject({ method: "POST", url: "/v2/video_generation" });
    expect(jsonOf(request)).toEqual({
      model: "MiniMax-H3",
      content: [
        { type: "text", text: "a red fox runs" },
        { type: "image_url", image_url: { url: png }, role: "first_frame" },
        { type: "image_url", image_url: { url: jpeg }, role: "last_frame" },
      ],
      resolution: "2K",
      duration: 15,
      ratio: "9:16",
      aigc_watermark: false,
    });
  });

  test("a prompt is required even with an image", () => {
    expect(h3.capabilities("MiniMax-H3").promptNeeded).toBe(true);
  });

  test("the life of a job", () => {
    expect(h3.readSubmit(mediaAnswer({ task_id: "task-1" }), videoCall(), context)).toEqual({
      state: "waiting",
      job,
    });
    expect(h3.poll?.(job, context)).toEqual({ method: "GET", url: "/v2/query/video_generation/task-1" });
    for (const status of ["queued", "running", "resting"]) expect(poll({ status })).toEqual({ state: "waiting", job });
    const usage = { total_seconds: 9, input_seconds: 4, output_seconds: 5 };
    const content = { url: "https://cdn.example/video.mp4" };
    expect(poll({ id: "task-1", status: "succeeded", content, resolution: "768P", duration: 5, usage })).toEqual({
      state: "done",
      reply: {
        videos: [{ url: "https://cdn.example/video.mp4", mimeType: "video/mp4" }],
        filtered: [],
        seconds: 5,
        resolution: "768p",
      },
    });
  });

  test.each([
    [{ status: "failed", error: { code: "2013", message: "bad ratio" } }, "invalid_request"],
    [{ status: "failed", error: { code: "server_error", message: "sorry" } }, "upstream_failed"],
    [{ status: "cancelled" }, "upstream_failed"],
    [{ status: "expired", error: null }, "upstream_failed"],
    [{ status: "succeeded", content: {} }, "upstream_failed"],
  ])("a job that failed: %j", (task, kind) => {
    expect(poll(task)).toMatchObject({ state: "failed", error: { kind } } as never);
  });

  test.each([1026, "1027", "output_sensitive"])("moderation by %p is a blocked video", (code) => {
    expect(poll({ status: "failed", error: { code, message: "Not this." } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["Not this."] },
    });
  });

  test.each([
    [401, "authentication_error", "upstream_credentials"],
    [400, "invalid_request_error", "invalid_request"],
    [402, "insufficient_balance_error", "upstream_credentials"],
    [429, "rate_limit_error", "rate_limited"],
    [500, "api_error", "upstream_failed"],
  ])("HTTP %d %s is %s", (status, type, kind) => {
    const body = { type: "error", error: { type, message: "said there", http_code: String(status) }, request_id: "r" };
    expect(h3.error(mediaAnswer(body, status)).kind).toBe(kind as never);
  });
});
