import { describe, expect, test } from "bun:test";
import { builtInModels } from "./built-in-models.ts";
import type { PriceItem } from "./model.ts";
import { priceCall, termsBeforeAnswer } from "./price-call.ts";

const perToken = (value: number): PriceItem[] => [{ value, unit: "perMTokens", currency: "USD" }];
const LIST = {
  pricings: { prompt: perToken(1), completion: perToken(2) },
  priceMultiples: { priority: 2, flex: 0.5, "long-context": 2 },
};
const usage = { input: 100, output: 10 };
const PLAIN = 120_000;

describe("H26: the terms of a call determine its cost", () => {
  test.each([
    [[], PLAIN, "prompt 1 + completion 2 USD/MTok"],
    [["priority"], 2 * PLAIN, "prompt 1 + completion 2 USD/MTok, × 2 priority"],
    [["flex"], PLAIN / 2, "prompt 1 + completion 2 USD/MTok, × 0.5 flex"],
    [["provisioned"], PLAIN, "prompt 1 + completion 2 USD/MTok, provisioned unpriced"],
    [["priority", "geo-us"], 2 * PLAIN, "prompt 1 + completion 2 USD/MTok, × 2 priority, geo-us unpriced"],
    [["long-context"], PLAIN, "prompt 1 + completion 2 USD/MTok"],
    [["constructor"], PLAIN, "prompt 1 + completion 2 USD/MTok, constructor unpriced"],
  ])("%j", (terms, costNanoUsd, rule) => {
    const { unpriced = [], ...priced } = priceCall(usage, LIST, terms);
    expect(priced).toEqual({ costNanoUsd, rule });
    expect(unpriced).toEqual(terms.filter((term) => rule.includes(`${term} unpriced`)));
  });

  test("a long context is one above 200,000 tokens, from a cache or not", () => {
    const cost = (input: number) => priceCall({ input, cacheRead: 100_000 }, LIST, ["long-context"]).costNanoUsd;
    expect(cost(100_000)).toBe(200_000_000);
    expect(cost(100_001)).toBe(2 * 200_001_000);
  });

  test("only models with prices have factors in the catalogue", () => {
    const multiplied = builtInModels.filter(({ priceMultiples }) => priceMultiples !== undefined);
    expect(multiplied.length).toBeGreaterThan(10);
    for (const { pricings } of multiplied) expect(pricings.prompt).toBeDefined();
  });
});

test("decision 0018: a request for a cheaper term lowers no price before its answer confirms it", () => {
  const { priceMultiples } = LIST;
  expect(termsBeforeAnswer(["flex", "priority", "unheard-of"], { priceMultiples })).toEqual(["priority", "unheard-of"]);
});
