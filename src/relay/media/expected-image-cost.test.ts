import { describe, expect, test } from "bun:test";
import type { Pricings } from "../../catalogue/model.ts";
import { expectedImageCost, expectedImageUsage } from "./expected-image-cost.ts";

const each = (value: number): Pricings => ({ image: [{ value, unit: "perCount", currency: "USD" }] });
const byTokens: Pricings = { image: [{ value: 40, unit: "perMTokens", currency: "USD" }] };

describe("H23: what images may cost is reserved before they are made", () => {
  test("at the most expensive of the offers", () => {
    const offers = [{ pricings: each(0.02) }, { pricings: each(0.05) }, { pricings: each(0.04) }];
    expect(expectedImageCost(3, {}, offers)).toBe(150_000_000);
    expect(expectedImageCost(3, {}, [])).toBe(0);
  });

  test("by their number where each has a price, else by the most tokens of their quality", () => {
    expect(expectedImageUsage(3, "high", each(0.02))).toEqual({ images: 3 });
    const tokens = (quality?: string) => expectedImageUsage(2, quality, byTokens).imageOutput;
    expect([tokens("low"), tokens("medium"), tokens("standard")]).toEqual([816, 3_168, 3_168]);
    // The model chooses, and may choose the best.
    expect([tokens("high"), tokens("auto"), tokens()]).toEqual([12_480, 12_480, 12_480]);
    expect(expectedImageCost(2, { quality: "low" }, [{ pricings: byTokens }])).toBe(816 * 40_000);
  });
});
