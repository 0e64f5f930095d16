import { describe, expect, test } from "bun:test";
import { type HostReply, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { sniffImage } from "../../sniff-image.ts";
import { lumaMedia } from "./media.ts";

const KEY = { authorization: "Bearer any-key" };
const ROOT = "/hosts/luma/dream-machine/v1/generations";
const PUBLIC_URL = "https://example.org/a.png";
const DATA = "data:image/png;base64,iVBORw0KGgo=";
const harness = new MediaHostHarness(lumaMedia);

const video = (more: JsonObject = {}, headers: Record<string, string> = KEY): Promise<HostReply> =>
  harness.send(ROOT, { headers, body: { model: "ray-flash-2", prompt: "a wave", resolution: "540p", ...more } });
const image = (more: JsonObject = {}): Promise<HostReply> =>
  harness.send(`${ROOT}/image`, { headers: KEY, body: { model: "photon-1", prompt: "a fox", ...more } });
const poll = (id: unknown, headers = KEY): Promise<HostReply> => harness.send(`${ROOT}/${id}`, { headers });

async function ended(outcome: string): Promise<HostReply> {
  const { id } = (await video({ prompt: `sim:${outcome}` })).body;
  harness.nowMs += 20;
  return poll(id);
}

describe("contract 2.1 to 2.3: generations", () => {
  test("a video goes through its states to a link that dies after a day", async () => {
    const keyframes = { frame0: { type: "image", url: PUBLIC_URL } };
    const made = await video({ aspect_ratio: "9:16", duration: "5s", keyframes });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      state: "queued",
      assets: null,
      failure_reason: null,
      model: "ray-flash-2",
      request: { keyframes },
    });
    const { id } = made.body;
    harness.nowMs += 10;
    expect((await poll(id)).body.state).toBe("dreaming");
    expect((await poll(id, { authorization: "Bearer another" })).status).toBe(404);
    harness.nowMs += 10;
    const { state, assets } = (await poll(id)).body as { state: string; assets: { video: string } };
    expect(state).toBe("completed");
    expect(videoFacts((await harness.fetchLink(assets.video)).bytes)).toEqual({
      width: 540,
      height: 960,
      seconds: 5,
      audio: false,
    });
    harness.nowMs += 24 * 3_600_000;
    expect((await harness.fetchLink(assets.video)).status).toBe(403);
  });

  test("an image has the ratio and format asked for", async () => {
    const { id } = (
      await image({ aspect_ratio: "16:9", format: "png", image_ref: [{ url: PUBLIC_URL, weight: 0.85 }] })
    ).body;
    harness.nowMs += 20;
    const { assets } = (await poll(id)).body as { assets: { image: string } };
    const seen = sniffImage((await harness.fetchLink(assets.image)).bytes);
    expect(seen?.mimeType).toBe("image/png");
    expect((seen?.size?.width ?? 0) / (seen?.size?.height ?? 1)).toBeCloseTo(16 / 9, 1);
  });

  test("outcomes", async () => {
    expect((await ended("moderated")).body).toMatchObject({
      state: "failed",
      failure_reason: expect.stringContaining("moderation"),
    });
    expect((await ended("fails")).body).toMatchObject({
      state: "failed",
      failure_reason: expect.stringContaining("internal"),
    });
    expect((await ended("forgotten")).status).toBe(404);
    expect((await ended("slow")).body.state).toBe("queued");
    const pair = [await ended("one-fails"), await ended("one-fails")].map((reply) => reply.body.state);
    expect(pair.sort()).toEqual(["completed", "failed"]);
    const { assets } = (await ended("expired")).body as { assets: { video: string } };
    expect((await harness.fetchLink(assets.video)).status).toBe(403);
    const at = async (outcome: string): Promise<number> => (await video({ prompt: `sim:${outcome}` })).status;
    expect([await at("blocked"), await at("busy"), await at("broken"), await at("overloaded")]).toEqual([
      400, 429, 500, 503,
    ]);
    expect((await video({ prompt: "sim:garbage" })).text).toStartWith("<html>");
  });
});

describe("contract 2.1 to 2.3: refusals say one sentence", () => {
  const detailOf = (reply: HostReply): string => String(reply.body.detail);

  test.each([
    ["a duration as a number", { duration: 5 }, "duration"],
    ["another resolution", { resolution: "480p" }, "resolution"],
    ["another ratio", { aspect_ratio: "2:1" }, "aspect_ratio"],
    ["bytes as a keyframe", { keyframes: { frame0: { type: "image", url: DATA } } }, "public URL"],
    ["a keyframe of no type", { keyframes: { frame1: { url: PUBLIC_URL } } }, "keyframes.frame1.type"],
    ["an unknown field", { seed: 1 }, "seed"],
    ["a model of images", { model: "photon-1" }, "model"],
    ["no words and no frame", { prompt: null }, "prompt"],
  ])("a video with %s", async (_, more, named) => {
    const reply = await video(more);
    expect(reply.status).toBe(400);
    expect(detailOf(reply)).toContain(named);
  });

  test.each([
    ["five references", { image_ref: [1, 2, 3, 4, 5].map(() => ({ url: PUBLIC_URL })) }, "at most 4"],
    ["a weight above 1", { image_ref: [{ url: PUBLIC_URL, weight: 2 }] }, "weight"],
    ["bytes as a reference", { style_ref: [{ url: DATA }] }, "public URL"],
    ["bytes as a character", { character_ref: { identity0: { images: [DATA] } } }, "public URLs"],
    ["bytes to modify", { modify_image_ref: { url: DATA } }, "public URL"],
    ["a model of videos", { model: "ray-2" }, "model"],
  ])("an image with %s", async (_, more, named) => {
    const reply = await image(more);
    expect(reply.status).toBe(400);
    expect(detailOf(reply)).toContain(named);
  });

  test("contract 5: keys and content types", async () => {
    expect((await video({}, {})).body).toEqual({ detail: "Not authenticated" });
    expect((await video({}, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await video({}, { ...KEY, "content-type": "text/plain" })).status).toBe(415);
    expect(await harness.answerTo("/hosts/luma/dream-machine/v1/ping", { headers: KEY })).toBeUndefined();
  });
});
