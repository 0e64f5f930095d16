import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import type { PriceItem } from "../../catalogue/model.ts";
import type { ImageCall } from "../../media/image-call.ts";
import { claimedPng } from "../../media/images.sample.ts";
import { decodeGeneration } from "../../media/images-api/decode-images.ts";
import { billOfImages } from "./image-bill.ts";
import { answers, ImageGateway, PNG, POOR_KEY, PRICE_NANO_USD } from "./image-gateway.sample.ts";

const each = (value: number): PriceItem => ({ value, unit: "perCount", currency: "USD" });
const model = { pricings: { image: [each(1), { ...each(2), resolution: "2K" }, { ...each(4), resolution: "4K" }] } };
const MADE = { kind: "made", image: { mimeType: "image/png", base64: "iVBORw==" } } as const;

describe("docs/media.md, what is billed: the price of an image that was made", () => {
  const request = decodeGeneration({ model: "a/b", prompt: "a fox", size: "4096x4096" });
  const priceOf = (sent?: Partial<ImageCall>, size?: string) => {
    const call = { request, model, attempt: sent && { sent: { ...request.call, ...sent } } };
    const reply = { results: [MADE], ...(size === undefined ? {} : { settings: { size } }) };
    return billOfImages(call, undefined, reply).pricings.image?.map(({ value }) => value);
  };

  test.each([
    ["its own size", { size: { width: 4096, height: 4096 } }, "2048x2048", 2],
    ["the size that was sent to its model", { size: { width: 2048, height: 2048 } }, undefined, 2],
    ["the level that was sent to its model", { size: "auto", tier: "2K" }, "auto", 2],
    ["the size asked for, where none was sent to a model", undefined, undefined, 4],
  ] as const)("by %s", (_, sent, size, value) => {
    expect(priceOf(sent, size)).toEqual([value]);
  });

  test("only those made are counted", () => {
    const call = { request, model, attempt: undefined };
    const results = [MADE, { kind: "filtered", reason: "blocked" } as const];
    expect(billOfImages(call, undefined, { results }).usage).toEqual({ images: 1 });
    expect(billOfImages(call, undefined, undefined).usage).toEqual({});
  });
});

const images = ImageGateway.forTests();
const USAGE = { input_tokens: 20, output_tokens: 100 };

describe("docs/media.md, what is billed: to the nano-dollar", () => {
  test("images that are priced by their number", async () => {
    images.play(images.paints(0, PNG, { usage: USAGE }));
    await images.generated({ n: 3 });
    expect(await images.rows()).toMatchObject([
      { usage_images: 3, usage_image_output: 100, usage_source: "measured", cost_nano_usd: 3 * PRICE_NANO_USD },
    ]);
  });

  test("images that are priced by their tokens, as the provider reports them", async () => {
    images.play(images.paints(0, PNG, { usage: USAGE }));
    await images.generated({ model: "test/tokens" });
    expect(await images.rows()).toMatchObject([
      { usage_images: 1, usage_image_output: 100, usage_source: "measured", cost_nano_usd: 20 * 5_000 + 100 * 40_000 },
    ]);
  });

  test("H26: tokens that a provider does not report are the most that such images take, and marked as an estimate", async () => {
    images.play(images.paints(0));
    await images.generated({ model: "test/tokens", n: 2, quality: "low" });
    expect(await images.rows()).toMatchObject([
      { usage_images: 2, usage_image_output: 816, usage_source: "estimated", cost_nano_usd: 816 * 40_000 },
    ]);
    images.play(images.paints(0, PNG, { usage: { input_tokens: 20, output_tokens: 0 } }));
    await images.generated({ model: "test/tokens", quality: "medium" });
    expect(await images.rows()).toMatchObject([
      { usage_image_output: 1_756, usage_source: "estimated", cost_nano_usd: 20 * 5_000 + 1_756 * 40_000 },
    ]);
  });

  test("a model without a price for images is billed by the tokens of its response", async () => {
    images.play(images.paints(0));
    await images.generated({ model: "test/completion" });
    // The most that an image takes is image tokens, which have no price here.
    expect(await images.rows()).toMatchObject([
      { usage_images: 1, usage_image_output: 7_024, usage_source: "estimated" },
    ]);
  });

  test("a model without a price costs nothing, and nothing is estimated", async () => {
    images.play(images.paints(0));
    await images.generated({ model: "test/unpriced" });
    expect(await images.rows()).toMatchObject([
      { usage_images: 1, usage_image_output: null, usage_source: "measured", cost_nano_usd: 0 },
    ]);
  });

  test("images of a separately priced size are billed by their real size", async () => {
    images.play(images.paints(0, claimedPng(2048, 2048).base64));
    await images.generated({ model: "test/sizes", size: "1024x1024" });
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: 80_000_000 }]);
    images.play(images.paints(0));
    await images.generated({ model: "test/sizes", size: "2048x2048" });
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: 40_000_000 }]);
    const type = "image_generation.completed";
    const event = JSON.stringify({ type, b64_json: claimedPng(2048, 2048).base64 });
    images.play(images.harness.upstream.stream(`event: ${type}\ndata: ${event}\n\n`));
    await images.harness.clock.until(images.generate({ model: "test/sizes", stream: true }).answer);
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: 80_000_000, stream: 1 }]);
    // Of bytes that say nothing, the size that was sent counts.
    images.play(images.paints(0, "bm8gaW1hZ2U="));
    await images.generated({ model: "test/sizes", size: "2048x2048" });
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: 80_000_000 }]);
  });

  test("tokens of a response without images are in the row, and images are 0", async () => {
    const failed = { error: { code: "OutputImageSensitiveContentDetected", message: "held back" } };
    images.play(answers({ data: [failed], usage: { generated_images: 0, output_tokens: 50 } }));
    await images.predicted("batch");
    expect(await images.rows()).toMatchObject([
      { outcome: "ok", usage_images: 0, usage_image_output: 50, cost_nano_usd: 0 },
    ]);
  });

  test("H23: the possible cost of images stays reserved until it is known: a second call does not fit", async () => {
    images.play(images.paints(1_000));
    const first = images.generate({}, { key: POOR_KEY });
    await images.pass(100);
    const second = await images.generated({}, { key: POOR_KEY });
    expect([second.status, images.sent.length]).toEqual([402, 1]);
    expect((await images.harness.clock.until(first.answer)).status).toBe(200);
    expect((await images.generated({}, { key: POOR_KEY })).status).toBe(402);
  });
});

describe("H26, H27: a usage that cannot be true", () => {
  const MOST_TOKENS = 1_756;
  const host =
    (usage: string): Script =>
    (reply, request) => {
      const reported = usage === "" ? "" : `,"usage":${usage}`;
      if (!request.body.includes('"stream":true')) {
        return answers(`{"created":1,"data":[{"b64_json":"${PNG}"}]${reported}}`)(reply, request);
      }
      const type = "image_generation.completed";
      const event = `event: ${type}\ndata: {"type":"${type}","b64_json":"${PNG}"${reported}}\n\n`;
      return images.harness.upstream.stream(event)(reply, request);
    };
  const ask = async (usage: string, stream: boolean) => {
    images.play(host(usage));
    const call = images.generate({ model: "test/tokens", quality: "medium", stream });
    return await images.harness.clock.until(call.answer);
  };

  describe.each([false, true])("streamed: %p", (stream) => {
    test.each([
      ["none", ""],
      ["null", "null"],
      ["zero", '{"input_tokens":0,"output_tokens":0}'],
      ["negative", '{"input_tokens":-1000000,"output_tokens":-5}'],
      ["endless", '{"input_tokens":5,"output_tokens":1e300}'],
      ["beyond numbers", '{"input_tokens":1e999,"output_tokens":1e999}'],
      ["text", '{"output_tokens":"many"}'],
      ["nested", '{"output_tokens":{"all":5}}'],
    ])("one that is %s: the image is billed at its maximum, and the next call is admitted", async (_, usage) => {
      const { status, text } = await ask(usage, stream);
      expect([status, text.includes(PNG)]).toEqual([200, true]);
      const [row] = await images.rows();
      expect(row).toMatchObject({ outcome: "ok", usage_source: "estimated", usage_image_output: MOST_TOKENS });
      expect(row?.cost_nano_usd).toBeWithin(MOST_TOKENS * 40_000, MOST_TOKENS * 40_000 + 25_001);
    });

    test("a possible one is billed as reported", async () => {
      await ask('{"input_tokens":5,"output_tokens":272.4}', stream);
      expect(await images.rows()).toMatchObject([{ usage_source: "measured", usage_image_output: 272 }]);
    });
  });
});
