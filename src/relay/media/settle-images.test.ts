import { describe, expect, test } from "bun:test";
import type { PriceItem } from "../../catalogue/model.ts";
import type { ImageCall } from "../../media/image-call.ts";
import { decodeGeneration } from "../../media/images-api/decode-images.ts";
import { billOfImages } from "./settle-images.ts";

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
