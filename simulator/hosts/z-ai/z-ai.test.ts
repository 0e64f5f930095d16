import { beforeEach, describe, expect, test } from "bun:test";
import { bearer, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { zAiMedia } from "./media.ts";

const BASE = "/hosts/z-ai/api/paas/v4";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(zAiMedia);
});

const generate = (body: JsonObject, path = "images/generations") =>
  harness.send(`${BASE}/${path}`, { body: { model: "glm-image", prompt: "a cat", ...body } });
const later = (body: JsonObject) => generate(body, "async/images/generations");
const video = (body: JsonObject) => generate({ model: "cogvideox-3", ...body }, "videos/generations");
const result = (id: unknown, key = "any-key") =>
  harness.send(`${BASE}/async-result/${String(id)}`, { headers: bearer(key) });
const codeOf = ({ status, body }: { status: number; body: JsonObject }) => [status, (body.error as JsonObject).code];

describe("contract 2.4: images", () => {
  test("one image at a link of thirty days", async () => {
    const { status, body } = await generate({ model: "cogview-4-250304", size: "768x1344", watermark_enabled: false });
    expect(status).toBe(200);
    expect(body.content_filter).toEqual([{ role: "assistant", level: 3 }]);
    const url = String((body.data as JsonObject[])[0]?.url);
    const fetched = await harness.fetchLink(url);
    expect(sniffImage(fetched.bytes)?.size).toEqual({ width: 768, height: 1344 });
    harness.nowMs += 30 * 24 * 3_600_000;
    expect((await harness.fetchLink(url)).status).toBe(403);
  });

  test("in the background: PROCESSING, then SUCCESS", async () => {
    const { body } = await later({ request_id: "mine-1" });
    expect(body).toMatchObject({ model: "glm-image", request_id: "mine-1", task_status: "PROCESSING" });
    harness.nowMs += harness.takesMs / 2;
    expect((await result(body.id)).body.task_status).toBe("PROCESSING");
    harness.nowMs += harness.takesMs / 2;
    const done = (await result(body.id)).body;
    expect(done).toMatchObject({ task_status: "SUCCESS", request_id: "mine-1" });
    const fetched = await harness.fetchLink(String((done.image_result as JsonObject[])[0]?.url));
    expect(sniffImage(fetched.bytes)?.size).toEqual({ width: 1280, height: 1280 });
    expect((await result(body.id, "another")).status).toBe(404);
  });

  test.each([
    [{ quality: "standard" }],
    [{ size: "512x512" }],
    [{ size: "1280*1280" }],
    [{ size: 1280 }],
    [{ model: "cogview-4-250304", size: "500x500" }],
    [{ n: 2 }],
    [{ seed: 1 }],
    [{ watermark_enabled: "no" }],
    [{ user_id: "short" }],
    [{ prompt: "" }],
  ] as [JsonObject][])("refuses %p", async (body) => {
    expect(codeOf(await generate(body))).toEqual([400, "1210"]);
  });

  test("keys, models and what cannot wait", async () => {
    const body = { model: "glm-image", prompt: "a cat" };
    expect(codeOf(await harness.send(`${BASE}/images/generations`, { body, headers: {} }))).toEqual([401, "1002"]);
    expect(codeOf(await harness.send(`${BASE}/images/generations`, { body, headers: bearer("wrong") }))).toEqual([
      401,
      "1002",
    ]);
    expect((await harness.send(`${BASE}/async-result/1`, { headers: bearer("wrong") })).status).toBe(401);
    expect(codeOf(await generate({ model: "cogview-9" }))).toEqual([404, "1211"]);
    expect((await later({ model: "cogview-4-250304" })).status).toBe(400);
    expect(await harness.answerTo(`${BASE}/chat/completions`, { body })).toBeUndefined();
  });

  test("immediate outcomes", async () => {
    const outcome = (name: string) => generate({ prompt: `sim:${name}` });
    expect(codeOf(await outcome("blocked"))).toEqual([400, "1301"]);
    const moderated = await outcome("moderated");
    expect(moderated.body).toMatchObject({ data: [], content_filter: [{ role: "assistant", level: 0 }] });
    expect((await outcome("one-fails")).body.data).toEqual([]);
    expect((await outcome("one-fails")).body.data).toHaveLength(1);
    expect(codeOf(await outcome("fails"))).toEqual([500, "500"]);
    expect(codeOf(await outcome("busy"))).toEqual([429, "1302"]);
    expect(codeOf(await outcome("broken"))).toEqual([500, "500"]);
    expect(codeOf(await outcome("overloaded"))).toEqual([503, "1305"]);
    expect((await outcome("forgotten")).status).toBe(200);
    const expired = await outcome("expired");
    const url = String((expired.body.data as JsonObject[])[0]?.url);
    expect((await harness.fetchLink(url)).status).toBe(403);
    const garbage = await harness.ask(`${BASE}/images/generations`, {
      body: { model: "standard", prompt: "sim:garbage" },
    });
    expect(await garbage.text()).toStartWith("<html>");
  });
});

describe("contract 2.2: videos", () => {
  test("a video and its cover, from a first and a last image", async () => {
    const bytes = await drawImage({ prompt: "frame", width: 64, height: 64, seed: 1, format: "png" });
    const bare = Buffer.from(bytes).toString("base64");
    const { body } = await video({ image_url: [bare, `data:image/png;base64,${bare}`], size: "128x64", duration: 5 });
    expect(body).toMatchObject({ model: "cogvideox-3", task_status: "PROCESSING" });
    harness.nowMs += harness.takesMs;
    const [made] = (await result(body.id)).body.video_result as JsonObject[];
    const fetched = await harness.fetchLink(String(made?.url));
    const facts = videoFacts(fetched.bytes);
    expect(facts).toMatchObject({ width: 128, height: 64 });
    expect(facts.seconds).toBeCloseTo(5, 1);
    const cover = await harness.fetchLink(String(made?.cover_image_url));
    expect(sniffImage(cover.bytes)?.size).toEqual({ width: 128, height: 64 });
  });

  test.each([
    [{ duration: 6 }],
    [{ duration: "5" }],
    [{ fps: 24 }],
    [{ quality: "hd" }],
    [{ with_audio: "yes" }],
    [{ size: "wide" }],
    [{ aspect_ratio: "16:9" }],
    [{ negative_prompt: "dogs" }],
    [{ image_url: "bm9uZQ==" }],
    [{ image_url: ["https://a.b/1.png", "https://a.b/2.png", "https://a.b/3.png"] }],
    [{ prompt: "" }],
  ] as [JsonObject][])("refuses %p", async (body) => {
    expect(codeOf(await video(body))).toEqual([400, "1210"]);
    expect(harness.context.jobs.made).toBe(0);
  });

  test("other models have other fields", async () => {
    const fields = { aspect_ratio: "9:16", movement_amplitude: "auto", duration: 4 };
    const { status, body } = await video({ model: "viduq1-text", ...fields });
    expect([status, body.model]).toEqual([200, "viduq1-text"]);
    harness.nowMs += harness.takesMs;
    const [made] = (await result(body.id)).body.video_result as JsonObject[];
    const facts = videoFacts((await harness.fetchLink(String(made?.url))).bytes);
    expect(facts.width / facts.height).toBeCloseTo(9 / 16, 1);
    expect(facts.seconds).toBeCloseTo(4, 1);
    for (const [name, value] of Object.entries(fields))
      expect([name, ...codeOf(await video({ [name]: value }))]).toEqual([name, 400, "1210"]);
    for (const refused of [{ movement_amplitude: 1 }, { off_peak: "yes" }, { aspect_ratio: "wide" }, { duration: 6 }])
      expect(codeOf(await video({ model: "viduq1-text", ...refused }))).toEqual([400, "1210"]);
    expect((await video({ model: "vidu9" })).status).toBe(404);
    expect(harness.context.jobs.made).toBe(1);
  }, 20_000);

  test("outcomes: failures stand inside a 200", async () => {
    const end = async (name: string) => {
      const { body } = await video({ prompt: `a cat sim:${name}`, size: "64x64" });
      harness.nowMs += harness.takesMs;
      return result(body.id);
    };
    expect(await end("fails")).toMatchObject({ status: 200, body: { task_status: "FAIL" } });
    expect(await end("moderated")).toMatchObject({ status: 200, body: { task_status: "FAIL" } });
    expect((await end("one-fails")).body.task_status).toBe("FAIL");
    expect((await end("one-fails")).body.task_status).toBe("SUCCESS");
    expect((await end("slow")).body.task_status).toBe("PROCESSING");
    expect((await end("forgotten")).status).toBe(404);
    const [expired] = (await end("expired")).body.video_result as JsonObject[];
    expect((await harness.fetchLink(String(expired?.url))).status).toBe(403);
    expect(codeOf(await video({ prompt: "sim:blocked" }))).toEqual([400, "1301"]);
    const { body } = await later({ prompt: "sim:moderated" });
    harness.nowMs += harness.takesMs;
    expect((await result(body.id)).body).toMatchObject({ task_status: "FAIL", content_filter: [{ level: 0 }] });
  });
});
