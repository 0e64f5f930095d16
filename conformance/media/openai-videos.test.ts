import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { APIError, toFile } from "openai";
import type { Video, VideoCreateParams } from "openai/resources/videos";
import { drawImage } from "../../simulator/media-maker/draw-image.ts";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { probeVideo } from "./probe-video.ts";
import { KEYS, receiptOf, startVideoHarness, type VideoHarness } from "./video-harness.ts";
import { CONFIGURED_MODELS, VIDEO_MODELS } from "./video-models.ts";

/** OpenAI's videos API, by its own SDK, on every provider that makes videos. */

let harness: VideoHarness;
let client: OpenAI;
let frame: File;

beforeAll(async () => {
  harness = await startVideoHarness({ models: CONFIGURED_MODELS });
  client = connect(TEST_KEY);
  const image = await drawImage({ prompt: "frame", width: 1280, height: 720, seed: 1, format: "png" });
  frame = await toFile(image, "frame.png", { type: "image/png" });
});
afterAll(() => harness.stop());

const connect = (apiKey: string) =>
  new OpenAI({ baseURL: `${harness.gateway.url}/v1`, apiKey, maxRetries: 0, timeout: 30_000 });

const ended = (video: Video): Promise<Video> =>
  eventually(`the end of ${video.id}`, async () => {
    const latest = await client.videos.retrieve(video.id);
    return latest.status === "completed" || latest.status === "failed" ? latest : undefined;
  });

const create = (params: Omit<VideoCreateParams, "seconds" | "size"> & { seconds?: string; size?: string }) =>
  client.videos.create(params as VideoCreateParams);

const nameOf = ({ id }: Video) => `/operations/${id.slice("video_".length)}`;

const failure = async (promise: Promise<unknown>): Promise<{ status: number; error: Record<string, unknown> }> => {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof APIError)) throw new Error("the SDK reported no error of the API");
  return { status: Number(thrown.status), error: thrown.error as Record<string, unknown> };
};

const TEXT_MODELS = VIDEO_MODELS.filter(({ frames }) => !frames.endsWith("needed"));

describe.each(TEXT_MODELS.map(({ id }) => [id] as const))("decision 0100: %s", (model) => {
  test("is created, polled, downloaded, listed and deleted by openai", async () => {
    const submitted = await create({ model, prompt: "a fox" });
    expect(submitted).toMatchObject({ object: "video", model, prompt: null, error: null });
    const video = await ended(submitted);
    expect(video).toMatchObject({ id: submitted.id, status: "completed", progress: 100, error: null });
    expect(video.completed_at).toBeGreaterThanOrEqual(video.created_at);

    const content = await client.videos.downloadContent(video.id);
    expect(content.headers.get("content-type")).toBe("video/mp4");
    const facts = probeVideo(await content.bytes());
    expect(facts.seconds).toBeCloseTo(Number(video.seconds), 0);

    const receipt = await receiptOf(harness, nameOf(video));
    const usage = { seconds: Number(video.seconds) };
    expect(receipt).toMatchObject({
      model: model.split(":")[0],
      dialect: { client: "chat", upstream: "media" },
      usage,
    });

    const listed: string[] = [];
    for await (const { id } of client.videos.list({ limit: 2 })) listed.push(id);
    expect(listed[0]).toBe(video.id);
    expect(await client.videos.delete(video.id)).toEqual({ id: video.id, object: "video.deleted", deleted: true });
    expect((await failure(client.videos.retrieve(video.id))).status).toBe(404);
    expect((await failure(client.videos.downloadContent(video.id))).status).toBe(404);
  });
});

describe("decision 0100: a request of the videos API", () => {
  test.each([
    ["openai/sora-2", "1280x720", "1280x720"],
    ["openai/sora-2-pro", "1792x1024", "1792x1024"],
    ["sim/video", "720x1280", "720x1280"],
    ["sim/video", undefined, "720x1280"],
  ])("to %s with size %p makes %s", async (model, size, made) => {
    const video = await ended(await create({ model, prompt: "a fox", seconds: "4", ...(size && { size }) }));
    expect(video).toMatchObject({ status: "completed", size: made, seconds: "4" });
    const { width, height } = probeVideo(await (await client.videos.downloadContent(video.id)).bytes());
    expect(`${width}x${height}`).toBe(made);
  });

  test("has a first frame: an upload, or a data URL", async () => {
    const url = `data:image/png;base64,${Buffer.from(await frame.arrayBuffer()).toString("base64")}`;
    for (const input_reference of [frame, { image_url: url }]) {
      const asked = { prompt: "a fox", input_reference, seconds: "4", size: "1280x720" };
      for (const model of ["openai/sora-2", "sim/video"]) {
        if (model === "sim/video") Reflect.deleteProperty(asked, "size");
        expect((await ended(await create({ ...asked, model }))).status).toBe("completed");
      }
    }
  });

  test("without a model is for the vendor's default, under the vendor's name", async () => {
    const video = await create({ prompt: "a fox" });
    expect(video).toMatchObject({ model: "sora-2", size: "720x1280", seconds: "4" });
    await ended(video);
  });

  test("is repeated under its Idempotency-Key without a second job", async () => {
    const options = { headers: { "Idempotency-Key": crypto.randomUUID() } };
    const one = await client.videos.create({ model: "sim/video", prompt: "a fox" }, options);
    const two = await client.videos.create({ model: "sim/video", prompt: "a fox" }, options);
    expect(two.id).toBe(one.id);
    const { status, error } = await failure(client.videos.create({ model: "sim/video", prompt: "an owl" }, options));
    expect([status, error["code"]]).toEqual([400, "idempotency_key_reused"]);
    await ended(one);
  });

  const wrong: [string, Record<string, unknown>, number, string][] = [
    ["a size that the model does not make", { model: "openai/sora-2", size: "1792x1024" }, 400, "size"],
    ["a shape that no video model makes", { model: "sim/video", size: "1000x30" }, 400, "size"],
    ["a size that cannot be parsed", { model: "sim/video", size: "large" }, 400, "size"],
    ["a length that the model does not make", { model: "openai/sora-2", seconds: "5" }, 400, "seconds"],
    ["a length that cannot be parsed", { model: "sim/video", seconds: "long" }, 400, "seconds"],
    ["an empty prompt", { model: "sim/video", prompt: "" }, 400, "prompt"],
    ["an unknown model", { model: "sim/none" }, 404, "model"],
    ["a model that makes no videos", { model: "sim/image" }, 400, "model"],
    ["an uploaded file's id", { model: "sim/video", input_reference: { file_id: "file-abc" } }, 400, "file_id"],
    [
      "a frame that is no image",
      { model: "sim/video", input_reference: { image_url: "data:text/plain;base64,aGk=" } },
      400,
      "input_reference",
    ],
    ["two settings of the shape", { model: "sim/video", size: "1280x720", aspect_ratio: "16:9" }, 400, "aspect_ratio"],
  ];
  test.each(wrong)("is refused with %s", async (_what, fields, status, param) => {
    const refused = await failure(create({ prompt: "a fox", ...fields } as VideoCreateParams));
    expect(refused.status).toBe(status);
    expect(refused.error).toEqual({
      message: expect.any(String),
      type: expect.any(String),
      param: expect.stringContaining(param),
      code: refused.error["code"],
    });
  });

  test("reports a setting that the model does not have, and refuses it if it is strict", async () => {
    const params = { model: "sim/video", prompt: "a fox", negative_prompt: "rain" } as VideoCreateParams;
    const { data, response } = await client.videos.create(params).withResponse();
    expect(response.headers.get("x-trivium-dropped")).toBe("negative_prompt");
    await ended(data);
    const { status, error } = await failure(connect(KEYS.strict).videos.create(params));
    expect([status, error["param"]]).toEqual([400, "negative_prompt"]);
  });

  test("reports a failed and a blocked video as failed", async () => {
    const failed = await ended(await create({ model: "openai/sora-2", prompt: "sim:fails" }));
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(await failure(client.videos.downloadContent(failed.id))).toMatchObject({
      status: 400,
      error: { code: "video_not_ready", param: "video_id" },
    });
  });
});

describe("S09, decision 0087: a video of the videos API", () => {
  test("does not exist for another project", async () => {
    const video = await ended(await create({ model: "sim/video", prompt: "a fox" }));
    const stranger = connect(KEYS.stranger).videos;
    for (const ask of [
      () => stranger.retrieve(video.id),
      () => stranger.downloadContent(video.id),
      () => stranger.delete(video.id),
      () => stranger.remix(video.id, { prompt: "an owl" }),
    ]) {
      const { status, error } = await failure(ask());
      expect([status, error["code"], error["param"]]).toEqual([404, "video_not_found", "video_id"]);
    }
    const edit = await failure(stranger.edit({ prompt: "an owl", video: { id: video.id } }));
    expect([edit.status, edit.error["param"]]).toEqual([400, "video.id"]);
    expect((await stranger.list()).data.map(({ id }) => id)).not.toContain(video.id);
    expect(await client.videos.retrieve(video.id)).toMatchObject({ status: "completed" });
  });

  test("of a key with private objects exists for that key only", async () => {
    const owner = connect(KEYS.private).videos;
    const video = await owner.create({ model: "sim/video", prompt: "a fox" });
    expect((await failure(client.videos.retrieve(video.id))).status).toBe(404);
    expect((await client.videos.list({ limit: 100 })).data.map(({ id }) => id)).not.toContain(video.id);
    expect((await owner.list()).data[0]?.id).toBe(video.id);
    const poll = await fetch(`${harness.gateway.url}/v1/publishers/sim/models/video:fetchPredictOperation`, {
      method: "POST",
      headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
      body: JSON.stringify({ operationName: `publishers/sim/models/video${nameOf(video)}` }),
    });
    expect(poll.status).toBe(404);
    await eventually("the video", async () => (await owner.retrieve(video.id)).status === "completed");
    expect((await owner.delete(video.id)).deleted).toBe(true);
  });

  test("is listed in pages, in both orders", async () => {
    const made: string[] = [];
    for (const seconds of ["4", "5", "6"])
      made.push((await ended(await create({ model: "sim/video", prompt: "a fox", seconds }))).id);
    const first = await client.videos.list({ limit: 2 });
    expect(first.data.map(({ id }) => id)).toEqual([made[2] ?? "", made[1] ?? ""]);
    expect(first.has_more).toBe(true);
    const second = await first.getNextPage();
    expect(second.data[0]?.id).toBe(made[0] ?? "");
    const upwards: string[] = [];
    for await (const { id } of client.videos.list({ order: "asc", limit: 3 })) upwards.push(id);
    expect(upwards.slice(-3)).toEqual(made);
    expect((await failure(client.videos.list({ after: "video_none" }))).error["param"]).toBe("after");
    expect((await failure(client.videos.list({ limit: 1000 }))).error["param"]).toBe("limit");
  });

  test("has no thumbnail, and cannot be deleted while it is in progress", async () => {
    const video = await create({ model: "sim/video", prompt: "a fox" });
    const { status, error } = await failure(client.videos.delete(video.id));
    expect([status, error["code"]]).toEqual([400, "video_in_progress"]);
    await ended(video);
    const thumbnail = await failure(client.videos.downloadContent(video.id, { variant: "thumbnail" }));
    expect([thumbnail.status, thumbnail.error["param"]]).toEqual([400, "variant"]);
  });
});

describe("decision 0100: a video made from another", () => {
  const derive = {
    remix: (id: string) => client.videos.remix(id, { prompt: "an owl" }),
    edit: (id: string) => client.videos.edit({ prompt: "an owl", video: { id } }),
    extend: (id: string) => client.videos.extend({ prompt: "it flies away", video: { id }, seconds: "8" }),
  };

  test.each([
    ["remix", "4", 4],
    ["edit", "4", 4],
    ["extend", "12", 8],
  ] as const)("by %s at the provider of the first, which bills what it adds", async (how, seconds, billed) => {
    const first = await ended(await create({ model: "sora-2", prompt: "a fox", seconds: "4", size: "1280x720" }));
    const second = await ended(await derive[how](first.id));
    expect(second).toMatchObject({ status: "completed", model: "sora-2", seconds, size: "1280x720" });
    expect(second.remixed_from_video_id).toBe(first.id);
    const receipt = await receiptOf(harness, nameOf(second));
    expect(receipt).toMatchObject({
      model: "openai/sora-2",
      usage: { seconds: billed },
      cost_nano_usd: billed * 100_000_000,
    });
  });

  test.each(["remix", "edit", "extend"] as const)(
    "by %s is refused where the provider has no such call",
    async (how) => {
      const first = await ended(await create({ model: "sim/video", prompt: "a fox" }));
      const { status, error } = await failure(derive[how](first.id));
      expect([status, error["code"]]).toEqual([400, "unsupported_parameter"]);
      expect(error["message"]).toContain("POST /v1/videos");
      expect(error["param"]).toBe(how === "remix" ? "video_id" : "video.id");
    },
  );

  test("is refused for an upload, and for a video that is not completed", async () => {
    const upload = await toFile(new Uint8Array([1]), "a.mp4", { type: "video/mp4" });
    const { status, error } = await failure(client.videos.edit({ prompt: "an owl", video: upload }));
    expect([status, error["param"]]).toEqual([400, "video"]);
    const failed = await ended(await create({ model: "openai/sora-2", prompt: "sim:fails" }));
    const early = await failure(client.videos.remix(failed.id, { prompt: "an owl" }));
    expect([early.status, early.error["code"]]).toEqual([400, "video_not_completed"]);
  });

  test("characters are not supported, with a sentence", async () => {
    const video = await toFile(new Uint8Array([1]), "a.mp4", { type: "video/mp4" });
    for (const ask of [
      () => client.videos.createCharacter({ name: "Fox", video }),
      () => client.videos.getCharacter("char_1"),
    ]) {
      const { status, error } = await failure(ask());
      expect(status).toBe(404);
      expect(error["message"]).toContain("video characters");
    }
  });
});
