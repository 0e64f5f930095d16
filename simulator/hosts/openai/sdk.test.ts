import { expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { openaiMedia } from "./media.ts";

const harness = new MediaHostHarness(openaiMedia);
const client = new OpenAI({
  apiKey: "any-key",
  baseURL: "http://127.0.0.1:1/openai/v1",
  maxRetries: 0,
  fetch: async (input, init) =>
    (await harness.answer(new Request(input as string, init as RequestInit))) ?? new Response(null, { status: 404 }),
});

test("contract 6.3: the vendor's SDK reads the stream, and an error in it", async () => {
  const read = async (prompt: string): Promise<string[]> => {
    const stream = await client.images.generate({
      model: "gpt-image-1.5",
      prompt,
      stream: true,
      partial_images: 1,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    return types;
  };
  expect(await read("a cat")).toEqual(["image_generation.partial_image", "image_generation.completed"]);
  await expect(read("sim:moderated")).rejects.toMatchObject({ code: "moderation_blocked" });
});

test("H12: the vendor's SDK sends images and a mask as a form", async () => {
  const draw = (transparent: boolean) =>
    drawImage({ prompt: "input", width: 64, height: 64, seed: 1, format: "png", transparent });
  const image = await toFile(await draw(false), "image.png", { type: "image/png" });
  const mask = await toFile(await draw(true), "mask.png", { type: "image/png" });
  const edit = async (images: (typeof image)[]) =>
    client.images.edit({ model: "gpt-image-2", prompt: "hat", n: 2, image: images, mask, output_format: "webp" });
  expect((await edit([image, image])).data).toHaveLength(2);
  const nameless = await toFile(await draw(false), "image.png", { type: "application/octet-stream" });
  await expect(edit([nameless])).rejects.toMatchObject({ status: 400, code: "unsupported_file_mimetype" });
});

test("contract 2.2: the vendor's SDK follows a video to its bytes", async () => {
  const video = await client.videos.create({ model: "sora-2", prompt: "a cat", seconds: "4" });
  expect(video.status).toBe("queued");
  harness.nowMs += harness.takesMs;
  expect((await client.videos.retrieve(video.id)).status).toBe("completed");
  const content = await client.videos.downloadContent(video.id);
  expect((await content.bytes()).length).toBeGreaterThan(1_000);
});
