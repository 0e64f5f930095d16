import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plainPng } from "../../src/media/images.sample.ts";
import { collect } from "../sdk/support.ts";
import { CallTable, expectBilled, lookAt, receiptOf } from "./image-audit.ts";
import { IMAGE_FAMILIES } from "./image-families.ts";
import { type ImageHarness, startImageHarness } from "./image-harness.ts";
import { IMAGE_DOORS, type ImageEvent, OPENAI_IMAGES } from "./openai-images.ts";

const PROMPT = "a red fox in the snow";
const PARTIAL = "image_generation.partial_image";
const COMPLETED = "image_generation.completed";

let harness: ImageHarness;
const table = new CallTable("Streams of images: SDK x provider");

beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(async () => {
  await harness.stop();
  table.print();
});

const typesOf = (events: readonly ImageEvent[]) => events.map(({ type }) => type);
const [family] = IMAGE_FAMILIES;
if (family === undefined) throw new Error("no family");

for (const [index, { version, connect }] of OPENAI_IMAGES.entries()) {
  const door = IMAGE_DOORS[index % IMAGE_DOORS.length] ?? "";
  const client = () =>
    connect({ baseURL: `${harness.gateway.url}${door}`, apiKey: harness.gateway.key, maxRetries: 0 });

  describe(`openai ${version} at ${door}`, () => {
    test.each([0, 1, 2, 3])(
      "contract 2.14, H12: %i partial images, each with its index, then the final one",
      async (partial_images) => {
        const body = {
          model: family.model,
          prompt: PROMPT,
          size: "1536x1024",
          quality: "medium",
          partial_images,
        } as const;
        const events = await collect(await client().images.generate({ ...body, stream: true }));
        expect(typesOf(events)).toEqual([...new Array(partial_images).fill(PARTIAL), COMPLETED]);
        for (const [at, event] of events.entries()) {
          expect(await lookAt(event.b64_json)).toBe("png 1536x1024");
          expect(event).toMatchObject({
            size: "1536x1024",
            quality: "medium",
            output_format: "png",
            background: "opaque",
          });
          expect(event.created_at).toBeGreaterThan(1_700_000_000);
          if (at < partial_images) expect(event.partial_image_index).toBe(at);
          else expect(event).not.toHaveProperty("partial_image_index");
        }
        const usage = events.at(-1)?.usage;
        expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
        expect(usage?.input_tokens_details).toMatchObject({ image_tokens: 0 });
      },
    );

    test("contract 2.14: several images in a stream, each after its own partial images, all billed", async () => {
      const body = { model: family.model, prompt: PROMPT, n: 3, partial_images: 1 } as const;
      const { data, response } = await client()
        .images.generate({ ...body, stream: true })
        .withResponse();
      const events = await collect(data);
      expect(typesOf(events)).toEqual([PARTIAL, COMPLETED, PARTIAL, COMPLETED, PARTIAL, COMPLETED]);
      const indexes = events.flatMap(({ partial_image_index }) => partial_image_index ?? []);
      expect(indexes).toEqual([0, 1, 2]);
      const receipt = await receiptOf(harness, response.headers.get("x-trivium-receipt"));
      expectBilled(receipt, family, 3);
      const reported = events.reduce((sum, { usage }) => sum + (usage?.output_tokens ?? 0), 0);
      expect(receipt.usage["image_output"]).toBe(reported);
    });

    test("contract 6.3: an edit with partial images", async () => {
      const { base64 } = plainPng(320, 320);
      const image = new File([Buffer.from(base64, "base64")], "fox.png", { type: "image/png" });
      const body = { model: family.model, prompt: PROMPT, image, partial_images: 2, stream: true } as const;
      const events = await collect(await client().images.edit(body));
      expect(typesOf(events)).toEqual(["image_edit.partial_image", "image_edit.partial_image", "image_edit.completed"]);
      expect(events.at(-1)?.usage?.input_tokens_details.image_tokens).toBeGreaterThan(0);
    });

    for (const other of IMAGE_FAMILIES.filter(({ editsOnly }) => !editsOnly)) {
      test(`contract 6.3: ${other.model} streams, whether or not its host does`, async () => {
        const n = Math.min(2, other.most);
        const body = { model: other.model, prompt: PROMPT, n, output_format: "jpeg", stream: true } as const;
        const { data, response } = await client().images.generate(body).withResponse();
        expect(response.headers.get("content-type")).toStartWith("text/event-stream");
        const events = await collect(data);
        expect(typesOf(events)).toEqual(new Array(n).fill(COMPLETED));
        for (const { b64_json } of events) expect(await lookAt(b64_json)).toBe(`jpeg ${other.usual.split(" ")[1]}`);
        expectBilled(await receiptOf(harness, response.headers.get("x-trivium-receipt")), other, n);
        table.good(other, `openai-${version}`);
      });
    }
  });
}
