import { beforeEach, describe, expect, test } from "bun:test";
import { readFrames } from "../../../src/wire/sse.ts";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { Json, JsonObject } from "../../json.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { volcengineMedia } from "./media.ts";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(volcengineMedia);
});

const IMAGES = "/hosts/volcengine/api/v3/images/generations";
const TASKS = "/hosts/volcengine/api/v3/contents/generations/tasks";
const headers = { authorization: "Bearer any-key" };
const DATA = `data:image/png;base64,${Buffer.from(
  await drawImage({ prompt: "a cat", width: 128, height: 96, seed: 1, format: "png" }),
).toString("base64")}`;

const draw = (body: JsonObject) =>
  harness.send(IMAGES, { headers, body: { model: "standard", prompt: "a cat", size: "128x64", ...body } });
const batchOf = (count: number): JsonObject => ({
  sequential_image_generation: "auto",
  sequential_image_generation_options: { max_images: count },
});
const codeOf = (body: JsonObject): unknown => (body["error"] as JsonObject)["code"];
const paramOf = (body: JsonObject): unknown => (body["error"] as JsonObject)["param"];

describe("providers 2.4: Seedream", () => {
  test("an image has the size that was asked for, by link and in base64", async () => {
    const { body } = await draw({});
    const [item] = body["data"] as JsonObject[];
    expect(await harness.sizeOfLink(item?.["url"])).toEqual({ width: 128, height: 64 });
    expect(body).toMatchObject({
      model: "standard",
      usage: { generated_images: 1, output_tokens: 32, total_tokens: 32 },
    });
    const encoded = (await draw({ response_format: "b64_json", output_format: "png" })).body["data"] as JsonObject[];
    const bytes = Buffer.from(String(encoded[0]?.["b64_json"]), "base64");
    expect(sniffImage(bytes)).toEqual({ mimeType: "image/png", size: { width: 128, height: 64 } });
  });

  test("a batch has one failed item among the good ones, and only those are billed", async () => {
    const { body } = await draw({ ...batchOf(3), prompt: "cats sim:one-fails" });
    const items = body["data"] as JsonObject[];
    expect(items.map((item) => codeIn(item))).toEqual([undefined, "OutputImageSensitiveContentDetected", undefined]);
    expect(body["usage"]).toMatchObject({ generated_images: 2 });
  });

  test("without a batch there is one image, and the link dies after 24 hours", async () => {
    const items = (await draw({})).body["data"] as JsonObject[];
    expect(items).toHaveLength(1);
    harness.nowMs += 24 * 3_600_000 - 1;
    expect((await harness.fetchLink(items[0]?.["url"])).status).toBe(200);
    harness.nowMs += 1;
    expect((await harness.fetchLink(items[0]?.["url"])).status).toBe(403);
  });

  test("a stream reports each image, then the usage, then [DONE]", async () => {
    const { text, headers: answered } = await draw({ ...batchOf(3), stream: true, prompt: "cats sim:one-fails" });
    expect(answered.get("content-type")).toContain("text/event-stream");
    const frames = readFrames(text);
    expect(frames.map(({ event, data }) => event ?? data)).toEqual([
      "image_generation.partial_succeeded",
      "image_generation.partial_failed",
      "image_generation.partial_succeeded",
      "image_generation.completed",
      "[DONE]",
    ]);
    const last = JSON.parse(frames[2]?.data ?? "") as JsonObject;
    expect(last).toMatchObject({ type: "image_generation.partial_succeeded", image_index: 2, size: "128x64" });
    expect(await harness.sizeOfLink(last["url"])).toEqual({ width: 128, height: 64 });
  });

  test("a stream whose images are all held back still ends with its usage, of nothing", async () => {
    const { text } = await draw({ ...batchOf(2), stream: true, prompt: "cats sim:moderated" });
    const frames = readFrames(text);
    expect(frames.map(({ event }) => event).slice(0, 2)).toEqual(Array(2).fill("image_generation.partial_failed"));
    expect(JSON.parse(frames[2]?.data ?? "")).toMatchObject({ usage: { generated_images: 0, total_tokens: 0 } });
  });

  test("a stream that fails has an error event; a wrong parameter is plain JSON despite it", async () => {
    const failed = await draw({ stream: true, prompt: "sim:fails" });
    expect(failed.status).toBe(200);
    expect(failed.text).toContain("event: error\n");
    const refused = await draw({ stream: true, size: "huge" });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "InvalidParameter", param: "size" } } });
  });

  const REFUSED: readonly [string, JsonObject, string][] = [
    ["n, which this host does not know", { n: 2 }, "n"],
    ["a seed on a model that has none", { model: "doubao-seedream-4-5-251128", seed: 5, size: "2K" }, "seed"],
    [
      "a format on a model that has one",
      { model: "doubao-seedream-4-0-250828", output_format: "png", size: "1K" },
      "output_format",
    ],
    ["a tier of another generation", { model: "doubao-seedream-4-5-251128", size: "1K" }, "size"],
    ["too few pixels", { model: "doubao-seedream-5-0-lite-260128", size: "1024x1024" }, "size"],
    ["too many pixels", { model: "doubao-seedream-5-0-pro-260628", size: "4096x4096" }, "size"],
    [
      "a batch of a model that makes one",
      { model: "doubao-seedream-5-0-pro-260628", size: "1K", ...batchOf(2) },
      "sequential_image_generation",
    ],
    [
      "a stream of a model that has none",
      { model: "doubao-seedream-5-0-pro-260628", size: "1K", stream: true },
      "stream",
    ],
    ["16 images", batchOf(16), "sequential_image_generation_options"],
    ["14 images from two", { image: [DATA, DATA], ...batchOf(14) }, "sequential_image_generation_options.max_images"],
    [
      "eleven references",
      { model: "doubao-seedream-5-0-pro-260628", size: "1K", image: Array(11).fill(DATA) as Json[] },
      "image",
    ],
    ["bytes that are no image", { image: "data:image/png;base64,aGVsbG8gd29ybGQ=" }, "image"],
    ["a format in capitals", { image: DATA.replace("png", "PNG") }, "image"],
    ["an image under a wrong name", { image: DATA.replace("png", "jpeg") }, "image"],
    ["a number for a text", { prompt: 5 }, "prompt"],
  ];
  test.each(REFUSED)("refuses %s", async (_, body, param) => {
    const refused = await draw(body);
    expect(refused.status).toBe(400);
    expect(codeOf(refused.body)).toBe("InvalidParameter");
    expect(paramOf(refused.body)).toBe(param);
    expect(harness.context.jobs.made).toBe(0);
  });

  test("unknown models, missing fields and keys are refused each in its way", async () => {
    expect(await draw({ model: "seedream-9" })).toMatchObject({
      status: 404,
      body: { error: { code: "UnsupportedModel" } },
    });
    const missing = await harness.send(IMAGES, { headers, body: { model: "standard" } });
    expect(missing).toMatchObject({ status: 400, body: { error: { code: "MissingParameter", param: "prompt" } } });
    for (const authorization of ["", "Bearer wrong"]) {
      const refused = await harness.send(IMAGES, { headers: { authorization }, body: {} });
      expect(refused).toMatchObject({ status: 401, body: { error: { code: "AuthenticationError" } } });
    }
    expect(await harness.answerTo("/hosts/volcengine/api/v3/chat/completions", { headers, body: {} })).toBeUndefined();
  });

  const OUTCOMES: readonly [string, number, string | undefined][] = [
    ["blocked", 400, "InputTextSensitiveContentDetected"],
    ["moderated", 400, "OutputImageSensitiveContentDetected"],
    ["fails", 500, "InternalServiceError"],
    ["busy", 429, "RateLimitExceeded.EndpointRPMExceeded"],
    ["broken", 500, "InternalServiceError"],
    ["overloaded", 503, "ServerOverloaded"],
    ["garbage", 200, undefined],
  ];
  test.each(OUTCOMES)("simulates %s", async (outcome, status, code) => {
    const { status: reply, body } = await draw({ prompt: `a cat sim:${outcome}` });
    expect(reply).toBe(status);
    expect(codeIn(body)).toBe(code);
  });

  test("simulates expired: the link no longer works", async () => {
    const items = (await draw({ prompt: "sim:expired" })).body["data"] as JsonObject[];
    expect((await harness.fetchLink(items[0]?.["url"])).status).toBe(403);
  });
});

function codeIn(item: JsonObject): unknown {
  return (item["error"] as JsonObject | undefined)?.["code"];
}

describe("providers 3.3: Seedance", () => {
  const said = (words: string): JsonObject => ({ type: "text", text: words });
  const frame = (role: string): JsonObject => ({ type: "image_url", image_url: { url: DATA }, role });
  const video = (body: JsonObject) =>
    harness.send(TASKS, { headers, body: { model: "standard", content: [said("a cat")], ...body } });
  const show = (id: unknown) => harness.send(`${TASKS}/${String(id)}`, { headers });
  const ended = async (body: JsonObject): Promise<JsonObject> => {
    const { id } = (await video(body)).body;
    harness.nowMs += harness.takesMs;
    return (await show(id)).body;
  };

  test("queued, running, succeeded; the video has its length, ratio, resolution and sound", async () => {
    const { body } = await video({ resolution: "480p", ratio: "1:1", duration: 1, return_last_frame: true });
    expect(body["id"]).toMatch(/^cgt-\d{14}-\w+$/);
    expect((await show(body["id"])).body).toMatchObject({ status: "queued", error: null });
    harness.nowMs += 10;
    expect((await show(body["id"])).body).toMatchObject({ status: "running" });
    harness.nowMs += 10;
    const done = (await show(body["id"])).body;
    expect(done).toMatchObject({
      ...{ status: "succeeded", resolution: "480p", ratio: "1:1", duration: 1, framespersecond: 24, frames: 24 },
      usage: { completion_tokens: 5400, total_tokens: 5400 },
    });
    const content = done["content"] as JsonObject;
    expect(await harness.videoAt(content["video_url"])).toEqual({ seconds: 1, width: 480, height: 480, audio: true });
    expect(await harness.sizeOfLink(content["last_frame_url"])).toEqual({ width: 480, height: 480 });
  });

  test("a video from an image has its ratio, and no sound unless requested", async () => {
    const body = {
      content: [frame("first_frame"), frame("last_frame")],
      resolution: "480p",
      duration: 1,
      generate_audio: false,
    };
    const content = (await ended(body))["content"] as JsonObject;
    expect(await harness.videoAt(content["video_url"])).toEqual({
      seconds: 1,
      width: 640,
      height: 480,
      audio: false,
    });
  });

  const REFUSED: readonly [string, JsonObject][] = [
    ["a last frame alone", { content: [frame("last_frame")] }],
    ["two first frames", { content: [frame("first_frame"), frame("first_frame")] }],
    [
      "audio with a first frame",
      {
        content: [
          frame("first_frame"),
          { type: "audio_url", audio_url: { url: "https://a.example/a.mp3" }, role: "reference_audio" },
        ],
      },
    ],
    ["a video that is too long", { model: "doubao-seedance-1-5-pro-251215", duration: 13 }],
    ["a video of its own length where there is none", { model: "doubao-seedance-1-5-pro-251215", duration: -1 }],
    ["a text for a number", { duration: "5" }],
    ["a resolution that it does not make", { model: "doubao-seedance-1-5-pro-251215", resolution: "4k" }],
    ["an unknown ratio", { ratio: "5:4" }],
    ["a negative prompt", { negative_prompt: "dogs" }],
    ["a part of an unknown type", { content: [{ type: "input_text", text: "a cat" }] }],
    ["nothing", { content: [] }],
  ];
  test.each(REFUSED)("refuses %s", async (_, body) => {
    const refused = await video(body);
    expect(refused.status).toBe(400);
    expect(codeOf(refused.body)).toBe("InvalidParameter");
  });

  test("a queued task is cancelled, a running one is not, one that ended is deleted, a late one expires", async () => {
    const withdraw = (id: unknown) => harness.send(`${TASKS}/${String(id)}`, { method: "DELETE", headers });
    const first = (await video({})).body["id"];
    expect((await withdraw(first)).status).toBe(200);
    expect((await show(first)).body).toMatchObject({ status: "cancelled" });
    const second = (await video({})).body["id"];
    harness.nowMs += 10;
    expect((await withdraw(second)).status).toBe(409);
    harness.nowMs += 10;
    expect((await withdraw(second)).status).toBe(200);
    expect((await show(second)).status).toBe(404);
    const late = (await video({ content: [said("sim:slow")], execution_expires_after: 2 })).body["id"];
    harness.nowMs += 2_001;
    expect((await show(late)).body).toMatchObject({ status: "expired" });
  });

  test("outcomes of a task come with HTTP 200; one of two videos fails", async () => {
    const byOutcome = (outcome: string) => ended({ content: [said(`sim:${outcome}`)] });
    expect(await byOutcome("moderated")).toMatchObject({
      status: "failed",
      error: { code: "OutputVideoSensitiveContentDetected" },
    });
    expect(await byOutcome("fails")).toMatchObject({ status: "failed", error: { code: "InternalServiceError" } });
    const words = [(await byOutcome("one-fails"))["status"], (await byOutcome("one-fails"))["status"]];
    expect(words).toEqual(["failed", "succeeded"]);
    const dead = (await byOutcome("expired"))["content"] as JsonObject;
    expect((await harness.fetchLink(dead["video_url"])).status).toBe(403);
    expect(codeIn(await byOutcome("forgotten"))).toBe("ResourceNotFound");
    expect((await video({ content: [said("sim:blocked")] })).status).toBe(400);
  });

  test("another key does not see a task", async () => {
    const { id } = (await video({})).body;
    const other = await harness.send(`${TASKS}/${String(id)}`, { headers: { authorization: "Bearer other" } });
    expect(other.status).toBe(404);
  });
});
