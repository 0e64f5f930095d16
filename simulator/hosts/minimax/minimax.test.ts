import { describe, expect, test } from "bun:test";
import { type HostReply, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { minimaxMedia } from "./media.ts";

const KEY = { authorization: "Bearer any-key" };
const ROOT = "/hosts/minimax";
const NO_IMAGE = `data:image/png;base64,${Buffer.from("no image").toString("base64")}`;
const harness = new MediaHostHarness(minimaxMedia);

async function dataUri(width: number, height: number): Promise<string> {
  const bytes = await drawImage({ prompt: "given", width, height, seed: 1, format: "png" });
  return `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
}

const post = (path: string, body: JsonObject, headers: Record<string, string> = KEY): Promise<HostReply> =>
  harness.send(`${ROOT}${path}`, { headers, body });
const get = (path: string, headers: Record<string, string> = KEY): Promise<HostReply> =>
  harness.send(`${ROOT}${path}`, { headers });
const codeOf = (reply: HostReply): number => (reply.body.base_resp as { status_code: number }).status_code;
const sayOf = (reply: HostReply): string => (reply.body.base_resp as { status_msg: string }).status_msg;

describe("contract 2.4: images", () => {
  const draw = (more: JsonObject, prompt = "a fox"): Promise<HostReply> =>
    post("/v1/image_generation", { model: "image-01", prompt, ...more });

  test("links to images of the ratio or the sides asked for, or their bytes", async () => {
    const reply = await draw({ aspect_ratio: "16:9", n: 2 });
    expect(reply.body).toMatchObject({
      metadata: { success_count: "2", failed_count: "0" },
      base_resp: { status_code: 0 },
    });
    const { image_urls } = reply.body.data as { image_urls: string[] };
    expect(await harness.sizeOfLink(image_urls[1])).toEqual({ width: 1280, height: 720 });
    const whole = await draw({ width: 512, height: 520, response_format: "base64" });
    const { image_base64 } = whole.body.data as { image_base64: string[] };
    expect(sniffImage(new Uint8Array(Buffer.from(image_base64[0] ?? "", "base64")))).toEqual({
      mimeType: "image/jpeg",
      size: { width: 512, height: 520 },
    });
    harness.nowMs += 24 * 3_600_000;
    expect((await harness.fetchLink(image_urls[0])).status).toBe(403);
  });

  test.each([
    ["ten images", { n: 10 }, "n must be"],
    ["an unknown field", { size: "1024x1024" }, "size"],
    ["an unknown ratio", { aspect_ratio: "5:4" }, "aspect_ratio"],
    ["a side that is no multiple of 8", { width: 513, height: 512 }, "multiple of 8"],
    ["a side too long", { width: 512, height: 2056 }, "height"],
    ["one side alone", { width: 512 }, "together"],
    ["a prompt too long", { prompt: "a".repeat(1501) }, "prompt"],
    ["a style on image-01", { style: { style_type: "manga" } }, "style"],
    ["an unknown model", { model: "image-99" }, "image-99"],
    ["a subject that is no image", { subject_reference: [{ type: "character", image_file: NO_IMAGE }] }, "image_file"],
  ])("refuses %s with HTTP 200 and the number 2013", async (_, more, said) => {
    const reply = await draw(more);
    expect([reply.status, codeOf(reply)]).toEqual([200, 2013]);
    expect(sayOf(reply)).toContain(said);
  });

  test("outcomes have their numbers", async () => {
    const at = async (outcome: string): Promise<number> => codeOf(await draw({}, `sim:${outcome}`));
    expect([await at("blocked"), await at("moderated"), await at("fails")]).toEqual([1026, 1027, 1000]);
    expect([await at("busy"), await at("broken"), await at("overloaded")]).toEqual([1002, 1000, 1001]);
    const some = await draw({ n: 3 }, "sim:one-fails");
    expect(some.body.metadata).toEqual({ success_count: "2", failed_count: "1" });
    const { image_urls } = (await draw({}, "sim:expired")).body.data as { image_urls: string[] };
    expect((await harness.fetchLink(image_urls[0])).status).toBe(403);
    expect((await draw({}, "sim:garbage")).text).toStartWith("<html>");
  });
});

describe("contract 2.1 to 2.3: videos in three steps", () => {
  const start = (more: JsonObject, prompt = "a wave"): Promise<HostReply> =>
    post("/v1/video_generation", { model: "MiniMax-Hailuo-02", prompt, ...more });
  const poll = (task: unknown, headers = KEY): Promise<HostReply> =>
    get(`/v1/query/video_generation?task_id=${task}`, headers);
  const retrieve = (file: unknown): Promise<HostReply> => get(`/v1/files/retrieve?file_id=${file}`);

  test("a task goes through its words, and its file has a link", async () => {
    const { task_id } = (await start({ resolution: "512P", first_frame_image: await dataUri(128, 128) })).body;
    const words: unknown[] = [];
    for (const at of [0, 3, 5, 20]) {
      words.push((await poll(task_id)).body.status);
      harness.nowMs += at;
    }
    expect(words).toEqual(["Preparing", "Preparing", "Queueing", "Processing"]);
    expect((await poll(task_id, { authorization: "Bearer another" })).body).toMatchObject({
      base_resp: { status_code: 2013 },
    });
    const done = await poll(task_id);
    expect(done.body).toMatchObject({ status: "Success", video_width: 512, video_height: 512 });
    const { file } = (await retrieve(done.body.file_id)).body as { file: { download_url: string; bytes: number } };
    const video = await harness.fetchLink(file.download_url);
    expect(video.bytes.length).toBe(file.bytes);
    expect(videoFacts(video.bytes)).toMatchObject({ width: 512, height: 512, seconds: 6 });
    harness.nowMs += 3_600_000;
    expect((await harness.fetchLink(file.download_url)).status).toBe(403);
    expect(codeOf(await retrieve("1"))).toBe(2013);
  });

  test.each([
    ["another duration", { duration: 5 }, "duration"],
    ["10 seconds in 1080P", { duration: 10, resolution: "1080P" }, "1080P"],
    ["another resolution", { resolution: "720p" }, "resolution"],
    [
      "a last frame on another model",
      { model: "MiniMax-Hailuo-2.3", last_frame_image: "https://example.org/a.png" },
      "last_frame_image",
    ],
    ["no frame to animate", { model: "I2V-01" }, "first_frame_image"],
    ["no subject", { model: "S2V-01" }, "subject_reference"],
    ["a frame that is no image", { first_frame_image: NO_IMAGE }, "first_frame_image"],
    ["an unknown field", { seed: 1 }, "seed"],
    ["an unknown model", { model: "other" }, "other"],
  ])("refuses %s", async (_, more, said) => {
    const reply = await start(more);
    expect([reply.status, codeOf(reply)]).toEqual([200, 2013]);
    expect(sayOf(reply)).toContain(said);
  });

  test("outcomes of a task", async () => {
    const ended = async (outcome: string): Promise<HostReply> => {
      const { task_id } = (await start({}, `sim:${outcome}`)).body;
      harness.nowMs += 20;
      return poll(task_id);
    };
    expect((await ended("moderated")).body).toMatchObject({ status: "Fail", base_resp: { status_code: 1027 } });
    expect((await ended("fails")).body).toMatchObject({ status: "Fail", base_resp: { status_code: 1000 } });
    expect(codeOf(await ended("forgotten"))).toBe(2013);
    expect((await ended("slow")).body.status).toBe("Preparing");
    const pair = [await ended("one-fails"), await ended("one-fails")].map((reply) => reply.body.status);
    expect(pair.sort()).toEqual(["Fail", "Success"]);
    expect(codeOf(await start({}, "sim:blocked"))).toBe(1026);
  });
});

describe("contract 2.1 to 2.3: videos of the second generation", () => {
  const text = { type: "text", text: "a wave" };
  const start = (content: JsonObject[], more: JsonObject = {}): Promise<HostReply> =>
    post("/v2/video_generation", { model: "MiniMax-H3", content, resolution: "768P", duration: 4, ...more });
  const poll = (id: unknown): Promise<HostReply> => get(`/v2/query/video_generation/${id}`);
  const frame = (url: string, role: string): JsonObject => ({ type: "image_url", image_url: { url }, role });
  const taskOf = (reply: HostReply) => reply.body.task as JsonObject;

  test("a task goes through its states, and reports link and usage", async () => {
    const { task_id } = (await start([text, frame(await dataUri(96, 96), "first_frame")])).body;
    expect(taskOf(await poll(task_id)).status).toBe("queued");
    harness.nowMs += 6;
    expect(taskOf(await poll(task_id)).status).toBe("running");
    harness.nowMs += 14;
    const task = taskOf(await poll(task_id));
    expect(task).toMatchObject({ status: "succeeded", duration: 4, usage: { total_seconds: 4, output_seconds: 4 } });
    const video = await harness.fetchLink((task.content as JsonObject).url ?? "");
    expect(videoFacts(video.bytes)).toEqual({ width: 768, height: 768, seconds: 4, audio: true });
  });

  test("only what is queued can be cancelled", async () => {
    const { task_id } = (await start([text])).body;
    const cancel = (): Promise<HostReply> =>
      harness.send(`${ROOT}/v2/video_generation/${task_id}`, { method: "DELETE", headers: KEY });
    expect((await cancel()).status).toBe(200);
    expect(taskOf(await poll(task_id)).status).toBe("cancelled");
    expect((await cancel()).status).toBe(400);
  });

  test("a URL outside its object is ignored", async () => {
    const flat = { type: "image_url", url: NO_IMAGE, role: "first_frame" };
    expect((await start([text, flat])).status).toBe(200);
  });

  const many = (count: number): JsonObject[] =>
    Array.from({ length: count }, () => frame("https://example.org/a.png", "reference_image"));
  test.each([
    ["no words", [frame("https://example.org/a.png", "first_frame")], {}, "text"],
    ["ten images", [text, ...many(10)], {}, "at most 9"],
    ["a frame with references", [text, ...many(1), frame("https://example.org/a.png", "first_frame")], {}, "together"],
    ["an invalid image", [text, frame(NO_IMAGE, "first_frame")], {}, "data URI"],
    ["no resolution", [text], { resolution: null }, "resolution"],
    ["no duration", [text], { duration: null }, "duration"],
    ["16 seconds", [text], { duration: 16 }, "duration"],
    ["another ratio", [text], { ratio: "2:1" }, "ratio"],
    ["an unknown model", [text], { model: "MiniMax-H9" }, "MiniMax-H9"],
  ])("refuses %s with HTTP 400", async (_, content, more, said) => {
    const reply = await start(content, more);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({
      type: "error",
      error: { http_code: "400", message: expect.stringContaining(said) },
    });
  });

  test("outcomes of a task", async () => {
    const startAs = (outcome: string): Promise<HostReply> => start([{ type: "text", text: `sim:${outcome}` }]);
    const ended = async (outcome: string): Promise<HostReply> => {
      const { task_id } = (await startAs(outcome)).body;
      harness.nowMs += 20;
      return poll(task_id);
    };
    expect(taskOf(await ended("moderated"))).toMatchObject({ status: "failed", error: { code: 1027 } });
    expect(taskOf(await ended("fails"))).toMatchObject({ status: "failed", error: { code: 1000 } });
    expect((await ended("forgotten")).status).toBe(404);
    const at = async (outcome: string): Promise<number> => (await startAs(outcome)).status;
    expect([await at("blocked"), await at("busy"), await at("broken"), await at("overloaded")]).toEqual([
      400, 429, 500, 503,
    ]);
    const { content } = taskOf(await ended("expired")) as { content: { url: string } };
    expect((await harness.fetchLink(content.url)).status).toBe(403);
  });
});

test("contract 5: each generation refuses keys in its own shape", async () => {
  const wrong = { authorization: "Bearer wrong" };
  const body = { model: "image-01", prompt: "a" };
  expect(codeOf(await post("/v1/image_generation", body, {}))).toBe(1004);
  expect(codeOf(await post("/v1/image_generation", body, wrong))).toBe(2049);
  expect((await get("/v2/query/video_generation/1", wrong)).status).toBe(401);
  expect(codeOf(await post("/v1/image_generation", body, { ...KEY, "content-type": "text/plain" }))).toBe(2013);
  expect(await harness.answerTo(`${ROOT}/v1/chat/completions`, { body, headers: KEY })).toBeUndefined();
});
