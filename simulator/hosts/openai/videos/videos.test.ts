import { beforeEach, describe, expect, test } from "bun:test";
import { bearer, MediaHostHarness } from "../../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../../json.ts";
import { videoFacts } from "../../../media/video-facts.ts";
import { drawImage } from "../../../media-maker/draw-image.ts";
import { sniffImage } from "../../../sniff-image.ts";
import { openaiMedia } from "../media.ts";

const VIDEOS = "/openai/v1/videos";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(openaiMedia);
});

const create = (body: JsonObject) => harness.send(VIDEOS, { body: { model: "sora-2", prompt: "a cat", ...body } });

const errorOf = (body: JsonObject): JsonObject => body.error as JsonObject;

describe("contract 2.2: the life of a video", () => {
  test("queued, in progress, completed; S09: the content requires the key that created it", async () => {
    const { status, body } = await create({ seconds: "4", size: "1280x720" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "video", model: "sora-2", status: "queued", progress: 0, error: null });
    expect(body).toMatchObject({ seconds: "4", size: "1280x720", prompt: "a cat", completed_at: null });
    expect(body.id).toMatch(/^video_/);
    const path = `${VIDEOS}/${String(body.id)}`;
    expect((await harness.send(`${path}/content`)).status).toBe(400);
    harness.nowMs += harness.takesMs / 2;
    expect((await harness.send(path)).body).toMatchObject({ status: "in_progress", progress: 50 });
    harness.nowMs += harness.takesMs / 2;
    const done = (await harness.send(path)).body;
    expect(done).toMatchObject({ status: "completed", progress: 100 });
    expect(Number(done.expires_at) - Number(done.completed_at)).toBe(3_600);

    expect((await harness.ask(`${path}/content`, { headers: {} })).status).toBe(401);
    expect((await harness.ask(`${path}/content`, { headers: bearer("another-key") })).status).toBe(404);
    const content = await harness.ask(`${path}/content`);
    expect(content.headers.get("content-type")).toBe("video/mp4");
    const facts = videoFacts(await content.bytes());
    expect(facts).toMatchObject({ width: 1280, height: 720 });
    expect(facts.seconds).toBeCloseTo(4, 1);
    const thumbnail = await harness.ask(`${path}/content?variant=thumbnail`);
    expect(sniffImage(await thumbnail.bytes())).toEqual({
      mimeType: "image/webp",
      size: { width: 1280, height: 720 },
    });
    expect((await harness.ask(`${path}/content?variant=poster`)).status).toBe(400);
    harness.nowMs += 3_600_000;
    expect((await harness.ask(`${path}/content`)).status).toBe(404);
  });

  test("edited and extended once it is completed", async () => {
    const { body } = await create({ seconds: "4" });
    const derive = (how: string, fields: JsonObject) =>
      harness.send(`${VIDEOS}/${how}`, { body: { prompt: "a dog", video: { id: body.id ?? null }, ...fields } });
    expect((await derive("edits", {})).status).toBe(400);
    harness.nowMs += harness.takesMs;
    expect((await derive("edits", {})).body).toMatchObject({ remixed_from_video_id: String(body.id), seconds: "4" });
    expect((await derive("extensions", { seconds: "16" })).body).toMatchObject({ seconds: "20" });
    expect((await derive("extensions", {})).status).toBe(400);
    expect((await derive("extensions", { seconds: "5" })).status).toBe(400);
    expect((await derive("edits", { video: { id: "video_none" } })).status).toBe(404);
  });

  test("remixed, and deleted", async () => {
    const { body } = await create({ seconds: "8" });
    const path = `${VIDEOS}/${String(body.id)}`;
    const remix = await harness.send(`${path}/remix`, { body: { prompt: "a dog" } });
    expect(remix.body).toMatchObject({ remixed_from_video_id: String(body.id), prompt: "a dog", seconds: "8" });
    expect((await harness.send(`${path}/remix`, { body: { prompt: "a dog", size: "720x1280" } })).status).toBe(400);
    expect((await harness.send(path, { method: "DELETE" })).body.deleted).toBe(true);
    expect((await harness.send(path)).status).toBe(404);
  });

  test("a form with the first frame", async () => {
    const bytes = await drawImage({ prompt: "frame", width: 720, height: 1280, seed: 1, format: "png" });
    const send = (content: Uint8Array, type: string) => {
      const form = new FormData();
      form.append("model", "sora-2-pro");
      form.append("prompt", "a cat");
      form.append("seconds", "12");
      form.append("size", "1792x1024");
      form.append("input_reference", new File([content as Uint8Array<ArrayBuffer>], "frame.png", { type }));
      return harness.send(VIDEOS, { body: form });
    };
    expect((await send(bytes, "image/png")).body).toMatchObject({ seconds: "12", size: "1792x1024" });
    expect(errorOf((await send(bytes, "application/octet-stream")).body).code).toBe("unsupported_file_mimetype");
    expect(errorOf((await send(bytes.slice(8), "image/png")).body).code).toBe("invalid_image_file");
  });

  const refused: [JsonObject, number, string | null][] = [
    [{ seconds: 4 }, 400, "invalid_type"],
    [{ seconds: "5" }, 400, "invalid_value"],
    [{ size: "1792x1024" }, 400, "invalid_value"],
    [{ size: "640x480" }, 400, "invalid_value"],
    [{ seed: 3 }, 400, "unknown_parameter"],
    [{ negative_prompt: "dogs" }, 400, "unknown_parameter"],
    [{ n: 2 }, 400, "unknown_parameter"],
    [{ prompt: "" }, 400, "string_below_min_length"],
    [{ model: "sora-1" }, 404, "model_not_found"],
    [{ input_reference: { image_url: "data:image/png;base64,AAAA" } }, 400, "invalid_image_file"],
    [{ input_reference: "https://example.org/a.png" }, 400, "invalid_type"],
  ];
  test.each(refused)("refuses %p", async (body, status, code) => {
    const answer = await create(body);
    expect([answer.status, errorOf(answer.body).code]).toEqual([status, code ?? null]);
    expect(harness.context.jobs.made).toBe(0);
  });

  test("outcomes", async () => {
    const end = async (outcome: string) => {
      const { body } = await create({ prompt: `a cat sim:${outcome}` });
      harness.nowMs += harness.takesMs;
      return harness.send(`${VIDEOS}/${String(body.id)}`);
    };
    expect((await create({ prompt: "sim:blocked" })).status).toBe(400);
    expect((await end("moderated")).body).toMatchObject({ status: "failed", error: { code: "moderation_blocked" } });
    expect((await end("fails")).body).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect((await end("one-fails")).body.status).toBe("failed");
    expect((await end("one-fails")).body.status).toBe("completed");
    expect((await end("slow")).body.status).toBe("queued");
    expect((await end("forgotten")).status).toBe(404);
    const expired = await end("expired");
    expect(expired.body.status).toBe("completed");
    expect((await harness.ask(`${VIDEOS}/${String(expired.body.id)}/content`)).status).toBe(404);
    expect((await create({ prompt: "sim:busy" })).status).toBe(429);
    expect((await create({ prompt: "sim:broken" })).status).toBe(500);
    expect((await create({ prompt: "sim:overloaded" })).status).toBe(503);
    expect(await (await harness.ask(VIDEOS, { body: { prompt: "sim:garbage" } })).text()).toStartWith("<html>");
  });
});
