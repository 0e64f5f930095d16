import { expect, test } from "bun:test";
import type { PriceItem, Pricings } from "./model.ts";
import { worstCost } from "./worst-prices.ts";

const item = (value: number, conditions?: PriceItem["conditions"]): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...(conditions && { conditions }),
});

test("decision 0110: tokens that are certainly cached cost the price of reading them, and count for tiers", () => {
  const plain: Pricings = { prompt: [item(1)], completion: [item(2)], input_cache_read: [item(0.1)] };
  expect(worstCost(1_000, 100, { pricings: plain }, [])).toBe(1_000_000 + 200_000);
  expect(worstCost(1_000, 100, { pricings: plain }, [], 100_000)).toBe(1_000_000 + 200_000 + 10_000_000);
  const unread: Pricings = { prompt: [item(1)], completion: [item(2)] };
  expect(worstCost(0, 0, { pricings: unread }, [], 100_000)).toBe(100_000_000);
  const tiered: Pricings = {
    ...plain,
    completion: [
      item(2, { prompt_tokens: { unit: "kTokens", lte: 200 } }),
      item(8, { prompt_tokens: { unit: "kTokens", gt: 200 } }),
    ],
  };
  expect(worstCost(0, 100, { pricings: tiered }, [], 300_000)).toBe(30_000_000 + 800_000);
});
