import { beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { KLING_SECRET } from "./authenticate.ts";
import { klingMedia } from "./media.ts";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(klingMedia);
});

const IMAGES = "/hosts/kling/v1/images/generations";
const TEXT_VIDEO = "/hosts/kling/v1/videos/text2video";
const IMAGE_VIDEO = "/hosts/kling/v1/videos/image2video";
const IMAGE = Buffer.from(
  await drawImage({ prompt: "a cat", width: 128, height: 96, seed: 1, format: "png" }),
).toString("base64");

const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString("base64url");
function token(payload: JsonObject, secret = KLING_SECRET, alg = "HS256"): string {
  const now = Math.floor(harness.nowMs / 1000);
  const signed = `${encode({ alg, typ: "JWT" })}.${encode({ iss: "access", exp: now + 1800, nbf: now - 5, ...payload })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const send = (path: string, body: JsonObject, key = token({})) =>
  harness.send(path, { headers: bearer(key), body: { model_name: "standard", prompt: "a cat", ...body } });
const show = (path: string, id: unknown, key = token({})) =>
  harness.send(`${path}/${String(id)}`, { headers: bearer(key) });
const dataOf = ({ body }: { body: JsonObject }) => body["data"] as JsonObject;
const ended = async (path: string, body: JsonObject): Promise<JsonObject> => {
  const id = dataOf(await send(path, body))["task_id"];
  harness.nowMs += harness.takesMs;
  return dataOf(await show(path, id));
};
const madeOf = (data: JsonObject, kind: string) => (data["task_result"] as JsonObject)[kind] as JsonObject[];

describe("providers 3.4: authentication", () => {
  test("a signed token and a plain key are both good, and a new token is the same caller", async () => {
    expect((await send(IMAGES, {}, "plain-key")).status).toBe(200);
    const id = dataOf(await send(IMAGES, {}))["task_id"];
    harness.nowMs += 1_000;
    expect((await show(IMAGES, id)).status).toBe(200);
    expect((await show(IMAGES, id, token({ iss: "somebody else" }))).status).toBe(404);
  });

  test("everything else is refused by its number", async () => {
    const now = Math.floor(harness.nowMs / 1000);
    const refusals: readonly [string, number][] = [
      ["", 1001],
      ["wrong-key", 1000],
      [token({}, "another secret"), 1000],
      [token({}, KLING_SECRET, "none"), 1002],
      [token({ iss: "wrong" }), 1002],
      [token({ iss: "" }), 1002],
      [token({ exp: "soon" }), 1002],
      [token({ nbf: now + 60 }), 1003],
      [token({ exp: now }), 1004],
      ["not.a.token", 1002],
    ];
    for (const [key, code] of refusals)
      expect(await send(IMAGES, {}, key)).toMatchObject({ status: 401, body: { code } });
  });
});

describe("providers 2.7: Kling's images", () => {
  test("submitted, processing, succeed; every image has its index and size", async () => {
    const submitted = dataOf(await send(IMAGES, { n: 2, aspect_ratio: "1:1", external_task_id: "mine" }));
    expect(submitted).toMatchObject({
      task_status: "submitted",
      task_info: { external_task_id: "mine" },
      created_at: harness.nowMs,
    });
    const id = submitted["task_id"];
    harness.nowMs += 10;
    expect(dataOf(await show(IMAGES, id))).toMatchObject({ task_status: "processing" });
    harness.nowMs += 10;
    const done = dataOf(await show(IMAGES, id));
    expect(done).toMatchObject({ task_status: "succeed", final_unit_deduction: "2" });
    expect(madeOf(done, "images").map(({ index }) => index)).toEqual([0, 1]);
    expect(await harness.sizeOfLink(madeOf(done, "images")[1]?.["url"])).toEqual({ width: 1024, height: 1024 });
    expect((await show(TEXT_VIDEO, id)).status).toBe(404);
  });

  const REFUSED: readonly [string, JsonObject][] = [
    ["a data prefix", { image: `data:image/png;base64,${IMAGE}` }],
    ["bytes that are no image", { image: "aGVsbG8=" }],
    ["a negative prompt with an image", { image: IMAGE, negative_prompt: "dogs" }],
    ["ten images", { n: 10 }],
    ["4k", { resolution: "4k" }],
    ["an unknown ratio", { aspect_ratio: "5:4" }],
    ["a seed", { seed: 1 }],
    ["a prompt that is too long", { prompt: "a".repeat(2501) }],
  ];
  test.each(REFUSED)("refuses %s", async (_, body) => {
    expect(await send(IMAGES, body)).toMatchObject({ status: 400, body: { code: 1201 } });
  });

  test("a model of videos is not one of images; the other URLs take several images", async () => {
    expect(await send(IMAGES, { model_name: "kling-v2-6" })).toMatchObject({ status: 404, body: { code: 1203 } });
    const several = { subject_image_list: [{ subject_image: IMAGE }, { subject_image: IMAGE }] };
    expect((await send("/hosts/kling/v1/images/multi-image2image", several)).status).toBe(200);
    const omni = { image_list: Array.from({ length: 10 }, () => ({ image: IMAGE })) };
    expect((await send("/hosts/kling/v1/images/omni-image", omni)).status).toBe(200);
    expect(await send("/hosts/kling/v1/images/nothing", {})).toMatchObject({ status: 404, body: { code: 1202 } });
  });

  test("of several images one is missing", async () => {
    const made = madeOf(await ended(IMAGES, { n: 3, prompt: "sim:one-fails" }), "images");
    expect(made.map(({ index }) => index)).toEqual([0, 2]);
  });
});

describe("providers 3.4: Kling's videos", () => {
  test("a video has its length as text, its ratio and its sound", async () => {
    const body = {
      model_name: "kling-v3",
      duration: "3",
      aspect_ratio: "1:1",
      sound: "on",
      watermark_info: { enabled: true },
    };
    const [video] = madeOf(await ended(TEXT_VIDEO, body), "videos");
    expect(video).toMatchObject({ duration: "3", watermark_url: expect.any(String) });
    expect(await harness.videoAt(video?.["url"])).toEqual({ seconds: 3, width: 720, height: 720, audio: true });
  });

  test("a video of images is taken, and several of them elsewhere", async () => {
    expect((await send(IMAGE_VIDEO, { image: IMAGE, image_tail: IMAGE })).status).toBe(200);
    const list = { image_list: [{ image: IMAGE }, { image: IMAGE }], aspect_ratio: "9:16" };
    expect((await send("/hosts/kling/v1/videos/multi-image2video", list)).status).toBe(200);
  });

  const REFUSED: readonly [string, string, JsonObject][] = [
    ["a duration that is a number", TEXT_VIDEO, { duration: 5 }],
    ["seven seconds of an older model", TEXT_VIDEO, { model_name: "kling-v2-6", duration: "7" }],
    ["16 seconds", TEXT_VIDEO, { model_name: "kling-v3", duration: "16" }],
    ["sound of an older model", TEXT_VIDEO, { model_name: "kling-v2-5-turbo", sound: "on" }],
    ["true for sound", TEXT_VIDEO, { sound: true }],
    ["a resolution", TEXT_VIDEO, { resolution: "720p" }],
    ["an unknown mode", TEXT_VIDEO, { mode: "max" }],
    ["a ratio with an image", IMAGE_VIDEO, { image: IMAGE, aspect_ratio: "16:9" }],
    ["a data prefix", IMAGE_VIDEO, { image: `data:image/png;base64,${IMAGE}` }],
    ["no image", IMAGE_VIDEO, {}],
  ];
  test.each(REFUSED)("refuses %s", async (_, path, body) => {
    expect(await send(path, body)).toMatchObject({ status: 400, body: { code: 1201 } });
  });

  test("outcomes inside a task, and a link that dies after 30 days", async () => {
    const byOutcome = (outcome: string) => ended(TEXT_VIDEO, { prompt: `sim:${outcome}` });
    expect(await byOutcome("moderated")).toMatchObject({
      task_status: "failed",
      task_status_msg: expect.stringContaining("risk control"),
    });
    expect(await byOutcome("fails")).toMatchObject({ task_status: "failed" });
    expect(await byOutcome("slow")).toMatchObject({ task_status: "submitted" });
    expect((await harness.fetchLink(madeOf(await byOutcome("expired"), "videos")[0]?.["url"])).status).toBe(403);
    const id = dataOf(await send(TEXT_VIDEO, { prompt: "sim:forgotten" }))["task_id"];
    expect(await show(TEXT_VIDEO, id)).toMatchObject({ status: 404, body: { code: 1203 } });
    const [video] = madeOf(await ended(TEXT_VIDEO, {}), "videos");
    harness.nowMs += 30 * 24 * 3_600_000;
    expect((await harness.fetchLink(video?.["url"])).status).toBe(403);
  });

  const IMMEDIATE_ERRORS: readonly [string, number, number | undefined][] = [
    ["blocked", 400, 1301],
    ["busy", 429, 1302],
    ["broken", 500, 5000],
    ["overloaded", 503, 5001],
    ["garbage", 200, undefined],
  ];
  test.each(IMMEDIATE_ERRORS)("simulates %s immediately", async (outcome, status, code) => {
    const reply = await send(TEXT_VIDEO, { prompt: `sim:${outcome}` });
    expect([reply.status, reply.body["code"]]).toEqual([status, code]);
  });
});
