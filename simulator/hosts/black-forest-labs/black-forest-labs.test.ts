import { beforeEach, describe, expect, test } from "bun:test";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { blackForestLabsMedia } from "./media.ts";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(blackForestLabsMedia);
});

const BASE = "/hosts/black-forest-labs/v1";
const headers = { "x-key": "any-key" };
const IMAGE = Buffer.from(
  await drawImage({ prompt: "a cat", width: 128, height: 96, seed: 1, format: "png" }),
).toString("base64");

const submit = (model: string, body: JsonObject) =>
  harness.send(`${BASE}/${model}`, { headers, body: { prompt: "a cat", ...body } });
const poll = async (submitted: JsonObject) => {
  const { pathname, search } = new URL(String(submitted["polling_url"]));
  return (await harness.send(`${pathname}${search}`, { headers })).body;
};
const ended = async (model: string, body: JsonObject): Promise<JsonObject> => {
  const submitted = await submit(model, body);
  harness.nowMs += harness.takesMs;
  return poll(submitted.body);
};
const sampleOf = (body: JsonObject): unknown => (body["result"] as JsonObject)["sample"];

describe("providers 2.6: FLUX", () => {
  test("Pending, then Ready at a polling URL elsewhere; the link lives ten minutes", async () => {
    const { body } = await submit("flux-2-pro", { width: 128, height: 64, seed: 7 });
    expect(new URL(String(body["polling_url"])).pathname).not.toStartWith(BASE);
    expect(await poll(body)).toMatchObject({ id: body["id"], status: "Pending", result: null });
    harness.nowMs += harness.takesMs;
    const ready = await poll(body);
    expect(ready).toMatchObject({
      status: "Ready",
      result: { prompt: "a cat", seed: 7, duration: expect.any(Number) },
    });
    expect(await harness.sizeOfLink(sampleOf(ready))).toEqual({ width: 128, height: 64 });
    expect((await harness.fetchLink(sampleOf(ready))).mimeType).toBe("image/jpeg");
    harness.nowMs += 10 * 60_000;
    expect((await harness.fetchLink(sampleOf(ready))).status).toBe(403);
  });

  test("the older URL of results works too", async () => {
    const { id } = (await submit("standard", {})).body;
    expect((await harness.send(`${BASE}/get_result?id=${String(id)}`, { headers })).body).toMatchObject({ id });
  });

  test("sizes come from the ratio, from the sides, or from the image that is filled", async () => {
    const wide = await harness.sizeOfLink(sampleOf(await ended("flux-kontext-pro", { aspect_ratio: "16:9" })));
    expect(wide).toEqual({ width: 1360, height: 768 });
    const filled = await ended("flux-pro-1.0-fill", {
      image: IMAGE,
      mask: IMAGE,
      guidance: 30,
      output_format: "png",
    });
    expect(await harness.sizeOfLink(sampleOf(filled))).toEqual({ width: 128, height: 96 });
  });

  test("eight images are taken", async () => {
    const more = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`input_image_${index + 2}`, IMAGE]));
    expect((await submit("flux-2-max", { input_image: IMAGE, ...more })).status).toBe(200);
  });

  const REFUSED: readonly [string, string, JsonObject, string][] = [
    ["a side that is no multiple of 16", "flux-2-pro", { width: 1000 }, "width"],
    ["guidance on a model without it", "flux-2-pro", { guidance: 3 }, "guidance"],
    ["sides where there is a ratio", "flux-kontext-pro", { width: 1024 }, "width"],
    ["a ratio where there are sides", "flux-2-pro", { aspect_ratio: "1:1" }, "aspect_ratio"],
    ["a ratio beyond 21:9", "flux-kontext-pro", { aspect_ratio: "3:1" }, "aspect_ratio"],
    ["a ninth image", "flux-2-pro", { input_image_9: IMAGE }, "input_image_9"],
    ["bytes that are no image", "flux-2-pro", { input_image: "aGVsbG8=" }, "input_image"],
    ["too much tolerance", "flux-2-pro", { safety_tolerance: 7 }, "safety_tolerance"],
    ["webp", "flux-2-pro", { output_format: "webp" }, "output_format"],
    ["several images", "flux-2-pro", { n: 2 }, "n"],
    ["filling nothing", "flux-pro-1.0-fill", {}, "image"],
  ];
  test.each(REFUSED)("refuses %s", async (_, model, body, field) => {
    const refused = await submit(model, body);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field] }] } });
  });

  test("keys, models and missing prompts", async () => {
    const wrong = { "x-key": "wrong" };
    expect((await harness.send(`${BASE}/flux-2-pro`, { headers: wrong, body: {} })).status).toBe(403);
    const bearer = { authorization: "Bearer any-key" };
    expect((await harness.send(`${BASE}/flux-2-pro`, { headers: bearer, body: {} })).status).toBe(403);
    expect((await submit("flux-9", {})).status).toBe(404);
    expect((await harness.send(`${BASE}/flux-2-pro`, { headers, body: {} })).status).toBe(422);
  });

  test("limits the number of active tasks, and further for one model", async () => {
    for (let count = 0; count < 24; count += 1) expect((await submit("flux-dev", {})).status).toBe(200);
    expect((await submit("flux-dev", {})).status).toBe(429);
    for (let count = 0; count < 6; count += 1) expect((await submit("flux-kontext-max", {})).status).toBe(200);
    expect((await submit("flux-kontext-max", {})).status).toBe(429);
    harness.nowMs += harness.takesMs;
    expect((await submit("flux-kontext-max", {})).status).toBe(200);
  });

  const WORDS: readonly [string, string][] = [
    ["moderated", "Content Moderated"],
    ["fails", "Error"],
    ["forgotten", "Task not found"],
    ["slow", "Pending"],
  ];
  test.each(WORDS)("simulates %s as %s", async (outcome, word) => {
    expect(await ended("standard", { prompt: `sim:${outcome}` })).toMatchObject({ status: word, result: null });
  });

  test("the first poll reports a blocked prompt; one of two images fails; a link expires", async () => {
    expect(await poll((await submit("standard", { prompt: "sim:blocked" })).body)).toMatchObject({
      status: "Request Moderated",
    });
    const pair = [
      await ended("standard", { prompt: "sim:one-fails" }),
      await ended("standard", { prompt: "sim:one-fails" }),
    ];
    expect(pair.map(({ status }) => status).sort()).toEqual(["Content Moderated", "Ready"]);
    const dead = await ended("standard", { prompt: "sim:expired" });
    expect((await harness.fetchLink(sampleOf(dead))).status).toBe(403);
  });

  test.each([
    ["busy", 429],
    ["broken", 500],
    ["overloaded", 503],
    ["garbage", 200],
  ] as const)("simulates %s immediately", async (outcome, status) => {
    expect((await submit("standard", { prompt: `sim:${outcome}` })).status).toBe(status);
    expect(harness.context.jobs.made).toBe(0);
  });
});
