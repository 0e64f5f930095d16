import { describe, expect, test } from "bun:test";
import { withoutAbsent } from "../base/without-absent.ts";
import { builtInModels } from "./built-in-models.ts";
import { pricingsOfImage } from "./image-prices.ts";
import type { PriceItem, Pricings } from "./model.ts";
import { priceUsage } from "./pricing.ts";

const byId = new Map(builtInModels.map((model) => [model.id, model.pricings]));
const seedream = byId.get("bytedance/doubao-seedream-5-0-pro-260628") ?? {};

describe("images of higher resolution have their own price", () => {
  test.each([
    [undefined, "image 0.045 USD each"],
    ["1K", "image 0.045 USD each"],
    ["2K", "image 0.09 USD each, 2K tier"],
    ["4K", "image 0.045 USD each"],
  ] as const)("%p: %s", (resolution, rule) => {
    const pricings = pricingsOfImage(seedream, withoutAbsent({ resolution }));
    expect(priceUsage({ images: 3, imageOutput: 49_152 }, pricings)).toEqual({
      costNanoUsd: resolution === "2K" ? 270_000_000 : 135_000_000,
      rule,
    });
  });

  test("by tokens as well, and before the price of plain completion", () => {
    const perToken = (value: number): PriceItem => ({ value, unit: "perMTokens", currency: "USD" });
    const pricings: Pricings = {
      prompt: [perToken(2)],
      completion: [perToken(12)],
      image: [perToken(120), { ...perToken(240), resolution: "4k" }],
    };
    const usage = { input: 10, imageOutput: 1000, images: 1 };
    expect(priceUsage(usage, pricingsOfImage(pricings, { resolution: "4K" }))).toEqual({
      costNanoUsd: 10 * 2000 + 1000 * 240_000,
      rule: "prompt 2 + image 240 USD/MTok, 4k tier",
    });
    expect(priceUsage(usage, pricingsOfImage(pricings, {})).rule).toBe("prompt 2 + image 120 USD/MTok");
  });

  test("a model with one price for all images keeps its list unchanged", () => {
    const pricings = byId.get("openai/gpt-image-2") ?? {};
    expect(pricingsOfImage(pricings, { resolution: "4K" })).toBe(pricings);
  });
});
