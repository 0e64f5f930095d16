import { beforeEach, describe, expect, test } from "bun:test";
import { bearer, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { xAiMedia } from "./media.ts";

const GENERATIONS = "/hosts/x-ai/v1/images/generations";
const EDITS = "/hosts/x-ai/v1/images/edits";
const VIDEOS = "/hosts/x-ai/v1/videos";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(xAiMedia);
});

const generate = (body: JsonObject) =>
  harness.send(GENERATIONS, { body: { model: "grok-imagine-image", prompt: "a cat", ...body } });
const video = (body: JsonObject) =>
  harness.send(`${VIDEOS}/generations`, { body: { model: "grok-imagine-video-1.5", prompt: "a cat", ...body } });
const dataOf = (body: JsonObject): JsonObject[] => body.data as JsonObject[];

async function image(format: "png" | "webp" = "png"): Promise<string> {
  const bytes = await drawImage({ prompt: "input", width: 128, height: 64, seed: 1, format });
  return `data:image/${format};base64,${Buffer.from(bytes).toString("base64")}`;
}

describe("contract 2.4: images", () => {
  test("the shape is the recorded one; the image at the link has the ratio", async () => {
    const { status, body } = await generate({ aspect_ratio: "2:1", n: 2 });
    expect(status).toBe(200);
    expect(body.usage).toEqual({ cost_in_usd_ticks: 400_000_000 });
    expect(dataOf(body)).toHaveLength(2);
    expect(dataOf(body)[0]).toMatchObject({ mime_type: "image/jpeg", respect_moderation: true });
    const url = String(dataOf(body)[0]?.url);
    const fetched = await harness.fetchLink(url);
    expect(sniffImage(fetched.bytes)).toEqual({
      mimeType: "image/jpeg",
      size: { width: 2048, height: 1024 },
    });
    harness.nowMs += 3_600_000;
    expect((await harness.fetchLink(url)).status).toBe(403);
  });

  test("edits are JSON with one image or several, and keep the ratio of the first", async () => {
    const url = await image();
    const edit = (body: JsonObject) =>
      harness.send(EDITS, {
        body: { model: "grok-imagine-image-2.0", prompt: "hat", response_format: "b64_json", ...body },
      });
    const one = await edit({ image: { url, type: "image_url" }, resolution: "1k", quality: "low" });
    const bytes = new Uint8Array(Buffer.from(String(dataOf(one.body)[0]?.b64_json), "base64"));
    expect(sniffImage(bytes)?.size).toEqual({ width: 2048, height: 1024 });
    expect((await edit({ images: [{ url }, { url: "https://example.org/a.jpg" }] })).status).toBe(200);
    const refused: JsonObject[] = [
      {},
      { images: [] },
      { images: Array<JsonObject>(6).fill({ url }) },
      { image: { url }, images: [{ url }] },
      { image: url },
      { image: { url: "data:image/png;base64,bm9uZQ==" } },
      { image: { url: url.replace("image/png", "image/webp") } },
      { image: { url: "file.png" } },
      { image: { url, type: "file" } },
      { image: { url }, mask: { url } },
    ];
    for (const body of refused) {
      const answer = await edit(body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(["code", "error"]);
    }
    const form = new FormData();
    form.append("model", "grok-imagine-image");
    expect((await harness.ask(EDITS, { body: form })).status).toBe(400);
  });

  test.each([
    [{ size: "1024x1024" }],
    [{ seed: 1 }],
    [{ negative_prompt: "dogs" }],
    [{ n: 11 }],
    [{ n: "1" }],
    [{ aspect_ratio: "4:1" }],
    [{ aspect_ratio: "wide" }],
    [{ resolution: "1.5k" }],
    [{ resolution: "4k" }],
    [{ quality: "low" }],
    [{ model: "standard", quality: "high" }],
    [{ response_format: "png" }],
    [{ prompt: "" }],
    [{ image: { url: "https://example.org/a.png" } }],
  ] as [JsonObject][])("refuses %p", async (body) => {
    expect((await generate(body)).status).toBe(400);
  });

  test("keys and models", async () => {
    const body = { model: "grok-imagine-image", prompt: "a cat" };
    expect((await harness.send(GENERATIONS, { body, headers: {} })).status).toBe(401);
    expect((await harness.send(GENERATIONS, { body, headers: bearer("wrong") })).body.error).toContain(
      "Incorrect API key",
    );
    expect((await generate({ model: "grok-2" })).status).toBe(404);
    expect(await harness.answerTo("/hosts/x-ai/v1/chat/completions", { body })).toBeUndefined();
  });

  test("outcomes: moderation is reported with the images, a failure inside a 200", async () => {
    const outcome = (name: string, more: JsonObject = {}) => generate({ prompt: `sim:${name}`, ...more });
    const held = (body: JsonObject) => dataOf(body).map((one) => one.respect_moderation === false);
    expect((await outcome("blocked")).status).toBe(400);
    const moderated = await outcome("moderated", { n: 2 });
    expect(held(moderated.body)).toEqual([true, true]);
    expect(dataOf(moderated.body)[0]?.url).toBe("");
    expect(held((await outcome("one-fails", { n: 3 })).body)).toEqual([false, true, false]);
    expect(held((await outcome("one-fails")).body)).toEqual([true]);
    expect(held((await outcome("one-fails")).body)).toEqual([false]);
    expect(await outcome("fails")).toMatchObject({ status: 200, body: { code: "Internal error" } });
    const expired = await outcome("expired");
    expect((await harness.fetchLink(String(dataOf(expired.body)[0]?.url))).status).toBe(403);
    expect((await outcome("forgotten")).status).toBe(200);
    expect((await outcome("busy")).status).toBe(429);
    expect((await outcome("broken")).status).toBe(500);
    expect((await outcome("overloaded")).status).toBe(503);
  });
});

describe("contract 2.2: videos", () => {
  test("202 with nothing, 202 with progress, then the video", async () => {
    const { status, body } = await video({ duration: 1, aspect_ratio: "1:1", resolution: "480p" });
    expect([status, Object.keys(body)]).toEqual([200, ["request_id"]]);
    const path = `${VIDEOS}/${String(body.request_id)}`;
    const waiting = await harness.ask(path);
    expect([waiting.status, await waiting.text()]).toEqual([202, ""]);
    harness.nowMs += harness.takesMs / 2;
    expect(await harness.send(path)).toMatchObject({ status: 202, body: { status: "pending", progress: 50 } });
    harness.nowMs += harness.takesMs / 2;
    const done = await harness.send(path);
    expect(done).toMatchObject({
      status: 200,
      body: { status: "done", video: { duration: 1, respect_moderation: true }, usage: { cost_in_usd_ticks: 8e8 } },
    });
    const fetched = await harness.fetchLink(String((done.body.video as JsonObject).url));
    const facts = videoFacts(fetched.bytes);
    expect(facts).toMatchObject({ width: 480, height: 480 });
    expect(facts.seconds).toBeCloseTo(1, 1);
    expect((await harness.ask(path, { headers: bearer("another") })).status).toBe(404);
    expect((await harness.ask(path, { headers: {} })).status).toBe(401);
    harness.nowMs += 3_600_001;
    expect((await harness.send(path)).body.status).toBe("expired");
  });

  test("from images, videos and voices", async () => {
    const url = await image();
    expect((await video({ image: { url }, reference_images: [{ url }] })).status).toBe(200);
    expect((await video({ reference_audios: [{ voice_id: "ara" }] })).status).toBe(200);
    const on = (verb: string, body: JsonObject) =>
      harness.send(`${VIDEOS}/${verb}`, { body: { model: "standard", prompt: "more", ...body } });
    expect((await on("edits", { video: { url: "https://example.org/a.mp4" } })).status).toBe(200);
    expect((await on("extensions", { video: { url: "https://example.org/a.mp4" }, duration: 3 })).status).toBe(200);
    expect((await on("edits", {})).status).toBe(400);
    expect((await on("edits", { video: { url: "a.mp4" } })).status).toBe(400);
  });

  test.each([
    [{ seed: 1 }, 400],
    [{ fps: 24 }, 400],
    [{ n: 2 }, 400],
    [{ last_frame: { url: "https://example.org/a.png" } }, 400],
    [{ duration: "5" }, 400],
    [{ duration: 0 }, 400],
    [{ resolution: "4k" }, 400],
    [{ image: { url: "data:image/png;base64,AAAA" } }, 400],
    [{ reference_audios: [{}] }, 400],
    [{ model: "grok-imagine-image" }, 404],
  ] as [JsonObject, number][])("refuses %p", async (body, status) => {
    expect((await video(body)).status).toBe(status);
    expect(harness.context.jobs.made).toBe(0);
  });

  test("outcomes", async () => {
    const end = async (name: string) => {
      const { body } = await video({ prompt: `a cat sim:${name}` });
      harness.nowMs += harness.takesMs;
      return harness.ask(`${VIDEOS}/${String(body.request_id)}`);
    };
    const ended = async (name: string) => (await (await end(name)).json()) as JsonObject;
    expect(await ended("fails")).toMatchObject({ status: "failed", error: { code: "internal_error" } });
    expect(await ended("moderated")).toMatchObject({ status: "done", video: { url: "", respect_moderation: false } });
    expect((await ended("expired")).status).toBe("expired");
    expect(await ended("one-fails")).toMatchObject({ video: { respect_moderation: false } });
    expect(await ended("one-fails")).toMatchObject({ video: { respect_moderation: true } });
    expect((await end("slow")).status).toBe(202);
    expect((await end("forgotten")).status).toBe(404);
    expect((await video({ prompt: "sim:blocked" })).status).toBe(400);
    expect((await video({ prompt: "sim:busy" })).status).toBe(429);
    expect((await video({ prompt: "sim:broken" })).status).toBe(500);
    expect((await video({ prompt: "sim:overloaded" })).status).toBe(503);
    const garbage = await harness.ask(`${VIDEOS}/generations`, {
      body: { model: "standard", prompt: "sim:garbage" },
    });
    expect(await garbage.text()).toStartWith("<html>");
  });
});
