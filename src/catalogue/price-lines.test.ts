import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { USAGE_COUNTERS, type Usage } from "../canon/usage.ts";
import { builtInModels } from "./built-in-models.ts";
import { keptPrices } from "./kept-prices.ts";
import { priceCall } from "./price-call.ts";
import { billOf } from "./price-lines.ts";

const usages: fc.Arbitrary<Usage> = fc.record(
  Object.fromEntries(USAGE_COUNTERS.map((counter) => [counter, fc.integer({ min: 0, max: 300_000 })])),
  { requiredKeys: [] },
);

describe("the cost of a call as arithmetic", () => {
  test("the lines add up to the cost, but for rounding, for every model of the catalogue", () => {
    fc.assert(
      fc.property(usages, fc.constantFrom(...builtInModels), (usage, { pricings }) => {
        const prices = { pricings, priceMultiples: undefined, terms: [], discount: 0 };
        const kept = keptPrices(prices);
        const [part] = billOf({ pricedBy: kept, usage }, () => kept.text) ?? [];
        const { costNanoUsd } = priceCall(usage, prices, []);
        const sum = part?.lines.reduce((all, line) => all + line.costNanoUsd, 0) ?? 0;
        expect(part?.costNanoUsd).toBe(costNanoUsd);
        expect(Math.abs(sum - costNanoUsd)).toBeLessThanOrEqual(USAGE_COUNTERS.length);
      }),
    );
  });

  test("terms and discount are listed separately", () => {
    const pricings = { prompt: [{ value: 2, unit: "perMTokens", currency: "USD" }] } as const;
    const kept = keptPrices({
      pricings: { prompt: [...pricings.prompt] },
      priceMultiples: { priority: 1.5 },
      terms: ["priority"],
      discount: 1_000,
    });
    const [part] = billOf({ pricedBy: kept, usage: { input: 1_000_000 } }, () => kept.text) ?? [];
    expect(part).toMatchObject({ multiple: 1.5, discountBasisPoints: 1_000, costNanoUsd: 2_700_000_000 });
    expect(part?.lines).toEqual([
      { counter: "input", amount: 1_000_000, priceUsd: 2, unit: "perMTokens", costNanoUsd: 2_000_000_000 },
    ]);
  });

  test("without stored prices there is no bill", () => {
    expect(billOf({ usage: {} }, () => undefined)).toBeUndefined();
    expect(billOf({ pricedBy: { id: "x" }, usage: {} }, () => undefined)).toBeUndefined();
  });
});
