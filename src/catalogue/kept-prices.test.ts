import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { USAGE_COUNTERS, type Usage } from "../canon/usage.ts";
import { builtInModels } from "./built-in-models.ts";
import { discounted } from "./discounted.ts";
import { costAt, keptPrices, readKeptPrices } from "./kept-prices.ts";
import type { PriceItem, Pricings } from "./model.ts";
import { type PriceList, priceCall } from "./price-call.ts";
import { priceUsage } from "./pricing.ts";
import { worstCost } from "./worst-prices.ts";

const TERMS = ["priority", "flex", "batch", "fast", "geo-us", "long-context", "unknown"];

/** Sizes on both sides of every tier bound, and arbitrary ones. */
const tokens = fc.oneof(
  fc.nat(400_000),
  fc.constantFrom(1, 31_999, 32_000, 32_001, 127_999, 128_000, 128_001, 199_999, 200_000, 200_001, 256_001, 272_001),
);
const usage: fc.Arbitrary<Usage> = fc
  .uniqueArray(fc.constantFrom(...USAGE_COUNTERS), { minLength: 1, maxLength: 5 })
  .chain((counters) =>
    fc
      .tuple(...counters.map((counter) => (counter === "images" || counter === "searches" ? fc.nat(9) : tokens)))
      .map((amounts) => Object.fromEntries(counters.map((counter, index) => [counter, amounts[index]])) as Usage),
  );
const terms = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  fc.uniqueArray(fc.constantFrom(...TERMS), { maxLength: 2 }),
);
const discount = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10_000 }));

const item = (value: number, more: Partial<PriceItem> = {}): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...more,
});
const price = fc.integer({ min: 0, max: 200_000_000 }).map((micros) => micros / 1e6);
/** Lists with tiers by prompt, by completion, with a gap, and without an end. */
const tiered: fc.Arbitrary<PriceItem[]> = fc.array(price, { minLength: 1, maxLength: 4 }).chain((values) =>
  fc.constantFrom("prompt_tokens", "completion_tokens").map((by) =>
    values.length === 1
      ? [item(values[0] ?? 0)]
      : values.map((value, index) =>
          item(value, {
            conditions: {
              [by]: {
                unit: "kTokens",
                gt: index === 0 ? null : index * 64,
                lte: index === 3 ? null : (index + 1) * 60,
              },
            },
          }),
        ),
  ),
);
const drawn: fc.Arbitrary<PriceList> = fc
  .dictionary(
    fc.constantFrom("prompt", "completion", "input_cache_read", "input_cache_write", "internal_reasoning", "image"),
    tiered,
  )
  .map((pricings) => ({
    pricings: pricings as Pricings,
    priceMultiples: { priority: 1.75, flex: 0.5, "geo-us": 1.1 },
  }));
const listed: fc.Arbitrary<PriceList> = fc.constantFrom(...builtInModels);
const list = fc.oneof(listed, drawn);

describe("the prices stored with a receipt", () => {
  test("reproduce its cost to the nano-dollar, in every tier, on any terms and with any discount", () => {
    fc.assert(
      fc.property(list, usage, terms, discount, (prices, used, on, points) => {
        const billed = priceCall(used, prices, on, points);
        const { pricings, priceMultiples } = prices;
        const kept = keptPrices({ pricings, priceMultiples, terms: on, discount: points });
        expect(costAt(used, readKeptPrices(kept.text ?? ""))).toBe(billed.costNanoUsd);
        expect(Number.isSafeInteger(billed.costNanoUsd)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test("are the same for the same list, however it is written, and differ for other terms", () => {
    const one: Pricings = { prompt: [item(1)], completion: [item(2)] };
    const other: Pricings = { completion: [item(2)], prompt: [item(1)], image: [] };
    const plain = { terms: [], discount: 0 };
    const kept = keptPrices({ pricings: one, ...plain });
    expect(keptPrices({ pricings: one, ...plain })).toBe(kept);
    expect(keptPrices({ pricings: other, ...plain })).toEqual(kept);
    const ids = [
      kept,
      keptPrices({ pricings: one, terms: [], discount: 1 }),
      keptPrices({ pricings: one, terms: ["flex"], discount: 0 }),
      keptPrices({ pricings: one, terms: ["flex"], discount: 0, priceMultiples: { flex: 0.5 } }),
      keptPrices({ pricings: { ...one, prompt: [item(1.000001)] }, ...plain }),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  });

  test("of an unknown form are rejected", () => {
    expect(() => readKeptPrices('{"form":4,"pricings":{}}')).toThrow("form 4");
  });
});

describe("a discount", () => {
  test("is exact, rounded up, and keeps the order of costs", () => {
    const cost = fc.oneof(fc.nat(100_000), fc.maxSafeNat());
    fc.assert(
      fc.property(cost, cost, fc.nat(10_000), (one, other, points) => {
        const exact = BigInt(one) * BigInt(10_000 - points);
        expect(BigInt(discounted(one, points))).toBe((exact + 9_999n) / 10_000n);
        if (one <= other) expect(discounted(one, points)).toBeLessThanOrEqual(discounted(other, points));
      }),
      { numRuns: 5_000 },
    );
    expect(discounted(1, 9_999)).toBe(1);
    expect(discounted(12_345, 10_000)).toBe(0);
  });

  test("appears in the price rule", () => {
    const prices = { pricings: { prompt: [item(2)] } };
    expect(priceCall({ input: 1_000_000 }, prices, [], 1250)).toEqual({
      costNanoUsd: 1_750_000_000,
      rule: "prompt 2 USD/MTok, 12.5% discount",
    });
  });
});

describe("H23: the worst prices of an offer", () => {
  test("equal the highest possible bill for a number of tokens", () => {
    fc.assert(
      fc.property(list, tokens, tokens, terms, (prices, input, output, on) => {
        const prompts: Usage[] = [{ input }, { cacheWrite5m: input }, { cacheWrite1h: input }];
        const answers: Usage[] = [{ output }, { reasoning: output }];
        const ways = prompts.flatMap((prompt) => answers.map((answer) => ({ ...prompt, ...answer })));
        const costs = ways.flatMap((way) => [
          priceUsage(way, prices.pricings).costNanoUsd,
          priceCall(way, prices, on).costNanoUsd,
        ]);
        expect(worstCost(input, output, prices, on)).toBe(Math.max(...costs));
      }),
      { numRuns: 4_000 },
    );
  });
});
