import { beforeEach, describe, expect, test } from "bun:test";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { Json, JsonObject } from "../../json.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { qwenMedia } from "./media.ts";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(qwenMedia);
});

const BASE = "/hosts/qwen/api/v1";
const headers = { authorization: "Bearer any-key" };
const asynchronous = { ...headers, "x-dashscope-async": "enable" };
const DATA = `data:image/png;base64,${Buffer.from(
  await drawImage({ prompt: "a cat", width: 128, height: 96, seed: 1, format: "png" }),
).toString("base64")}`;
const SERVICES = {
  sync: `${BASE}/services/aigc/multimodal-generation/generation`,
  messages: `${BASE}/services/aigc/image-generation/generation`,
  text: `${BASE}/services/aigc/text2image/image-synthesis`,
  images: `${BASE}/services/aigc/image2image/image-synthesis`,
  video: `${BASE}/services/aigc/video-generation/video-synthesis`,
} as const;

const messagesOf = (words: string, images: readonly string[] = []): JsonObject => ({
  messages: [{ role: "user", content: [...images.map((image) => ({ image })), { text: words }] }],
});
const small: JsonObject = { size: "128*64", n: 1 };
const draw = (model: string, parameters: JsonObject, input: JsonObject = messagesOf("a cat")) =>
  harness.send(SERVICES.sync, { headers, body: { model, input, parameters } });
const submit = (service: keyof typeof SERVICES, model: string, input: JsonObject, parameters: JsonObject) =>
  harness.send(SERVICES[service], { headers: asynchronous, body: { model, input, parameters } });
const show = async (id: unknown) => (await harness.send(`${BASE}/tasks/${String(id)}`, { headers })).body;
const idOf = (body: JsonObject): unknown => (body["output"] as JsonObject)["task_id"];
const outputOf = (body: JsonObject) => body["output"] as JsonObject;
const imagesOf = (output: JsonObject): unknown[] =>
  (output["choices"] as JsonObject[]).flatMap((choice) =>
    ((choice["message"] as JsonObject)["content"] as JsonObject[]).map((item) => item["image"]),
  );
async function ended(service: keyof typeof SERVICES, model: string, input: JsonObject, parameters: JsonObject) {
  const { body } = await submit(service, model, input, parameters);
  harness.nowMs += harness.takesMs;
  return show(idOf(body));
}

describe("providers 2.5: synchronous images", () => {
  test("an image has the size that was asked for; the link lives 24 hours", async () => {
    const { body } = await draw("standard", { ...small, n: 2 }, messagesOf("a cat", [DATA]));
    const images = imagesOf(outputOf(body));
    expect(images).toHaveLength(2);
    expect(await harness.sizeOfLink(images[0])).toEqual({ width: 128, height: 64 });
    expect(body).toMatchObject({ usage: { image_count: 2, width: 128, height: 64 }, request_id: expect.any(String) });
    harness.nowMs += 24 * 3_600_000;
    expect((await harness.fetchLink(images[0])).status).toBe(403);
  });

  test("what is left out costs: four images of wan2.7, 2048 squared of qwen-image-2.0", async () => {
    expect(imagesOf(outputOf((await draw("wan2.7-image", { size: "1K" })).body))).toHaveLength(4);
    expect((await draw("qwen-image-2.0", {})).body["usage"]).toMatchObject({ width: 2048, height: 2048 });
  });

  const three = messagesOf("a cat", [DATA, DATA, DATA]);
  const REFUSED: readonly [string, string, JsonObject, JsonObject?][] = [
    ["a tier where there is none", "qwen-image-2.0", { size: "2K" }],
    ["too many pixels", "qwen-image-2.0", { size: "2048*2064" }],
    ["a ratio beyond 8:1", "qwen-image-2.0", { size: "2048*240" }],
    ["sides that are no multiples of 16", "qwen-image-2.0", { size: "1000*1000" }],
    ["a size with an x", "qwen-image-2.0", { size: "1024x1024" }],
    ["a size that is not one of five", "qwen-image", { size: "1024*1024" }],
    ["any size", "qwen-image-edit", { size: "1024*1024" }, three],
    ["a side below 512", "qwen-image-edit-plus", { size: "496*1024" }, three],
    ["seven images", "qwen-image-2.0", { n: 7 }],
    ["two of a model that makes one", "qwen-image", { n: 2 }],
    ["5 images of wan2.7", "wan2.7-image", { n: 5 }],
    ["a negative prompt on wan2.7", "wan2.7-image", { negative_prompt: "dogs" }],
    ["more than 2048 squared from images", "wan2.7-image-pro", { size: "4096*4096" }, three],
    ["no image to edit", "qwen-image-edit", {}],
    ["an image that is not wanted", "qwen-image", {}, three],
    ["four images", "qwen-image-2.0", {}, messagesOf("a cat", [DATA, DATA, DATA, DATA])],
    ["bytes that are no image", "qwen-image-2.0", {}, messagesOf("a cat", ["data:image/png;base64,aGVsbG8="])],
    ["base64 without its prefix", "qwen-image-2.0", {}, messagesOf("a cat", [DATA.slice(DATA.indexOf(",") + 1)])],
    ["guidance", "qwen-image-2.0", { guidance_scale: 3 }],
    ["a negative seed", "qwen-image-2.0", { seed: -1 }],
    ["a prompt without messages", "qwen-image-2.0", {}, { prompt: "a cat" }],
    ["two texts", "qwen-image-2.0", {}, { messages: [{ role: "user", content: [{ text: "a" }, { text: "b" }] }] }],
  ];
  test.each(REFUSED)("refuses %s", async (_, model, parameters, input) => {
    const refused = await draw(model, parameters, input);
    expect(refused).toMatchObject({ status: 400, body: { code: "InvalidParameter", request_id: "req_simulated" } });
  });

  test("takes what the table of sizes allows", async () => {
    const taken: readonly [string, string][] = [
      ["qwen-image-2.0-pro", "2048*2048"],
      ["qwen-image", "1664*928"],
      ["wan2.7-image-pro", "4K"],
      ["z-image-turbo", "1024*1024"],
    ];
    for (const [model, size] of taken) expect((await draw(model, { size, n: 1 })).status).toBe(200);
  });

  test("keys, models and ways of calling", async () => {
    const wrong = { authorization: "Bearer wrong" };
    expect(await harness.send(SERVICES.sync, { headers: wrong, body: {} })).toMatchObject({
      status: 401,
      body: { code: "InvalidApiKey" },
    });
    expect((await draw("qwen-image-9", {})).status).toBe(404);
    expect((await draw("qwen3-max", {})).status).toBe(404);
    const body: Json = { model: "standard", input: messagesOf("a cat") };
    expect((await harness.send(SERVICES.sync, { headers: asynchronous, body })).status).toBe(403);
    expect((await harness.send(SERVICES.messages, { headers, body })).status).toBe(403);
    expect(
      await harness.answerTo("/hosts/qwen/compatible-mode/v1/chat/completions", { headers, body }),
    ).toBeUndefined();
  });

  const OUTCOMES: readonly [string, number, string | undefined][] = [
    ["blocked", 400, "DataInspectionFailed"],
    ["moderated", 400, "DataInspectionFailed"],
    ["fails", 500, "InternalError"],
    ["busy", 429, "Throttling.RateQuota"],
    ["broken", 500, "InternalError"],
    ["overloaded", 503, "ServiceUnavailable"],
    ["garbage", 200, undefined],
  ];
  test.each(OUTCOMES)("simulates %s", async (outcome, status, code) => {
    const reply = await draw("standard", small, messagesOf(`sim:${outcome}`));
    expect([reply.status, reply.body["code"]]).toEqual([status, code]);
  });

  test("simulates one-fails and expired", async () => {
    const { body } = await draw("standard", { ...small, n: 3 }, messagesOf("sim:one-fails"));
    expect(imagesOf(outputOf(body))).toHaveLength(2);
    expect(body["usage"]).toMatchObject({ image_count: 2 });
    const dead = imagesOf(outputOf((await draw("standard", small, messagesOf("sim:expired"))).body));
    expect((await harness.fetchLink(dead[0])).status).toBe(403);
  });
});

describe("providers 2.5: images as tasks", () => {
  test("PENDING, RUNNING, SUCCEEDED, with results", async () => {
    const { body } = await submit("text", "standard", { prompt: "a cat", negative_prompt: "" }, { ...small, n: 2 });
    expect(outputOf(body)).toMatchObject({ task_status: "PENDING" });
    expect(outputOf(await show(idOf(body)))).toMatchObject({ task_status: "PENDING" });
    harness.nowMs += 10;
    expect(outputOf(await show(idOf(body)))).toMatchObject({ task_status: "RUNNING" });
    harness.nowMs += 10;
    const output = outputOf(await show(idOf(body)));
    expect(output).toMatchObject({ task_status: "SUCCEEDED", task_metrics: { TOTAL: 2, SUCCEEDED: 2, FAILED: 0 } });
    const [first] = output["results"] as JsonObject[];
    expect(await harness.sizeOfLink(first?.["url"])).toEqual({ width: 128, height: 64 });
  });

  test("a request with messages is answered with choices, each of one image", async () => {
    const output = outputOf(await ended("messages", "wan2.7-image", messagesOf("a cat"), { size: "1K", n: 2 }));
    expect(output["choices"]).toHaveLength(2);
    expect(await harness.sizeOfLink(imagesOf(output)[1])).toEqual({ width: 1024, height: 1024 });
  });

  test("a failed result is listed among the good ones; moderation and failures use HTTP 200", async () => {
    const byOutcome = (outcome: string, n = 1) =>
      ended("text", "standard", { prompt: `sim:${outcome}` }, { ...small, n });
    const partly = outputOf(await byOutcome("one-fails", 3));
    expect(partly).toMatchObject({ task_status: "SUCCEEDED", task_metrics: { TOTAL: 3, SUCCEEDED: 2, FAILED: 1 } });
    expect((partly["results"] as JsonObject[])[1]).toMatchObject({ code: "DataInspectionFailed" });
    expect(outputOf(await byOutcome("moderated"))).toMatchObject({
      task_status: "FAILED",
      code: "DataInspectionFailed",
    });
    expect(outputOf(await byOutcome("fails"))).toMatchObject({ task_status: "FAILED", code: "InternalError.Algo" });
    expect(outputOf(await byOutcome("forgotten"))).toMatchObject({ task_status: "UNKNOWN" });
  });

  test("a task is UNKNOWN after 24 hours, to another key, and where there never was one", async () => {
    const { body } = await submit("images", "wan2.5-i2i-preview", { prompt: "a cat", images: [DATA] }, { n: 1 });
    harness.nowMs += 24 * 3_600_000;
    expect(outputOf(await show(idOf(body)))).toMatchObject({ task_status: "SUCCEEDED" });
    const other = { authorization: "Bearer other" };
    const path = `${BASE}/tasks/${String(idOf(body))}`;
    expect(outputOf((await harness.send(path, { headers: other })).body)).toMatchObject({ task_status: "UNKNOWN" });
    harness.nowMs += 1;
    expect(outputOf(await show(idOf(body)))).toEqual({ task_id: String(idOf(body)), task_status: "UNKNOWN" });
  });

  test("only what waits in line is CANCELED", async () => {
    const cancel = (id: unknown) => harness.send(`${BASE}/tasks/${String(id)}/cancel`, { method: "POST", headers });
    const id = idOf((await submit("text", "standard", { prompt: "a cat" }, small)).body);
    expect((await cancel(id)).status).toBe(200);
    expect(outputOf(await show(id))).toMatchObject({ task_status: "CANCELED" });
    const running = idOf((await submit("text", "standard", { prompt: "a cat" }, small)).body);
    harness.nowMs += 10;
    expect((await cancel(running)).status).toBe(400);
  });
});

describe("providers 3.5: Wan", () => {
  test("a video has its length, size and sound, and the usage says so", async () => {
    const body = await ended(
      "video",
      "wan2.6-t2v",
      { prompt: "a cat" },
      { size: "640*480", duration: 2, audio: false },
    );
    expect(body["usage"]).toMatchObject({
      duration: 2,
      output_video_duration: 2,
      SR: 480,
      size: "640*480",
      video_count: 1,
    });
    expect(outputOf(body)).toMatchObject({
      task_status: "SUCCEEDED",
      orig_prompt: "a cat",
      actual_prompt: expect.any(String),
    });
    expect(await harness.videoAt(outputOf(body)["video_url"])).toEqual({
      seconds: 2,
      width: 640,
      height: 480,
      audio: false,
    });
  });

  test("a video of an image has its ratio; 2.7 takes media and always has sound", async () => {
    const media = [{ type: "first_frame", url: DATA }];
    const body = await ended("video", "wan2.7-i2v", { prompt: "a cat", media }, { resolution: "480P", duration: 2 });
    expect(await harness.videoAt(outputOf(body)["video_url"])).toEqual({
      seconds: 2,
      width: 640,
      height: 480,
      audio: true,
    });
  });

  const REFUSED: readonly [string, string, JsonObject, JsonObject][] = [
    ["a resolution for t2v of 2.6", "wan2.6-t2v", { prompt: "a" }, { resolution: "720P" }],
    ["a size for i2v", "wan2.6-i2v", { prompt: "a", img_url: DATA }, { size: "1280*720" }],
    ["img_url from 2.7 on", "wan2.7-i2v", { prompt: "a", img_url: DATA }, {}],
    ["media before 2.7", "wan2.6-i2v", { prompt: "a", media: [{ type: "first_frame", url: DATA }] }, {}],
    ["no first frame", "wan2.6-i2v", { prompt: "a" }, {}],
    ["the audio flag from 2.7 on", "wan2.7-t2v", { prompt: "a" }, { audio: true }],
    ["a ratio before 2.7", "wan2.6-t2v", { prompt: "a" }, { ratio: "16:9" }],
    ["a resolution in small letters", "wan2.6-i2v", { prompt: "a", img_url: DATA }, { resolution: "720p" }],
    ["fps", "wan2.6-t2v", { prompt: "a" }, { fps: 24 }],
    ["n", "wan2.6-t2v", { prompt: "a" }, { n: 2 }],
    ["31 seconds", "wan3.0-t2v", { prompt: "a" }, { duration: 31 }],
    ["bytes that are no image", "wan2.6-i2v", { prompt: "a", img_url: "data:image/png;base64,aGVsbG8=" }, {}],
  ];
  test.each(REFUSED)("refuses %s", async (_, model, input, parameters) => {
    const refused = await submit("video", model, input, parameters);
    expect(refused).toMatchObject({ status: 400, body: { code: "InvalidParameter" } });
  });

  test("outcomes of a video", async () => {
    const byOutcome = (outcome: string) => ended("video", "standard", { prompt: `sim:${outcome}` }, {});
    expect(outputOf(await byOutcome("moderated"))).toMatchObject({
      task_status: "FAILED",
      code: "DataInspectionFailed",
    });
    expect(outputOf(await byOutcome("fails"))).toMatchObject({ task_status: "FAILED" });
    expect((await harness.fetchLink(outputOf(await byOutcome("expired"))["video_url"])).status).toBe(403);
    expect(await submit("video", "standard", { prompt: "sim:blocked" }, {})).toMatchObject({ status: 400 });
  });
});
