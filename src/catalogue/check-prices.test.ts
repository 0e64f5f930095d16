import { describe, expect, test } from "bun:test";
import { builtInModels } from "./built-in-models.ts";
import { buildCatalogue } from "./catalogue.ts";
import { checkPrices } from "./check-prices.ts";
import { type Model, type Offer, type PriceItem, type Pricings, publisherOf, type TokenRange } from "./model.ts";
import { tierProblems } from "./tier-problems.ts";

const item = (value: number, more: Partial<PriceItem> = {}): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...more,
});
const tier = (value: number, range: Omit<TokenRange, "unit">) =>
  item(value, { conditions: { prompt_tokens: { unit: "kTokens", ...range } } });
const PLAIN: Pricings = { prompt: [item(1)], completion: [item(4)] };

function check(pricings: Pricings, offers: Partial<Offer>[] = [{}], more: Partial<Model> = {}) {
  const model: Model = {
    id: "acme/one",
    displayName: "One",
    inputModalities: ["text"],
    outputModalities: ["text"],
    reasoning: false,
    kind: "text",
    pricings,
    offers: offers.map((offer) => ({ provider: "host", upstreamModel: "one", pricings, ...offer })),
    ...more,
  };
  return checkPrices({ list: () => [model] }).map(({ kind, message }) => `${kind}: ${message}`);
}

describe("trivium prices check", () => {
  test("accepts ordinary prices and the built-in prices", () => {
    expect(check(PLAIN)).toEqual([]);
    const warnings = checkPrices(buildCatalogueOfAll());
    expect(warnings.filter(({ kind }) => kind !== "no-price")).toEqual([]);
  });

  test("reports models without a price, depending on their kind", () => {
    expect(check({})).toEqual([
      "no-price: acme/one at host has no price for prompt and completion, so calls are refused or not billed in full",
    ]);
    expect(check({ prompt: [item(1)] })[0]).toContain("no price for completion");
    expect(check({ prompt: [item(1)] }, [{}], { kind: "embedding" })).toEqual([]);
    expect(check({ prompt: [item(1)] }, [{}], { kind: "video" })[0]).toContain("no price for audio_and_video");
    expect(checkPrices({ list: () => [] })).toEqual([]);
  });

  test("reports offers that cost more than their model", () => {
    const dear = { provider: "dear", pricings: { prompt: [item(1.5)], completion: [item(4)] } };
    expect(check(PLAIN, [{}, dear])).toEqual([
      "dearer-offer: acme/one at dear: prompt costs 1.5, more than the 1 listed for the model",
    ]);
    expect(check(PLAIN, [{ pricings: { prompt: [item(0.5)], completion: [item(4)] } }])).toEqual([]);
  });

  test("reports prices that are off by a factor of about a thousand", () => {
    expect(check({ prompt: [item(0.0000025)], completion: [item(0.00001)] })).toHaveLength(2);
    expect(check({ prompt: [item(2500)], completion: [item(10_000)] })).toHaveLength(2);
    expect(check({ prompt: [item(2.5)], completion: [item(0.01 / 5)] })[0]).toContain("far from prompt 2.5");
    expect(check({ ...PLAIN, web_search: [item(10_000, { unit: "perCount" })] })[0]).toContain("unlikely high");
    expect(check({ prompt: [item(0)], completion: [item(0)] })).toEqual([]);
  });

  test.each<[string, Omit<TokenRange, "unit">[], string[]]>([
    ["without a gap", [{ lte: 200 }, { gt: 200 }], []],
    ["with touching bounds", [{ lt: 32 }, { gte: 32, lt: 128 }, { gte: 128 }], []],
    ["with a gap", [{ lte: 128 }, { gt: 200 }], ["has no tier for 128001 to 200000 prompt tokens"]],
    ["with a hole of one token", [{ lt: 128 }, { gt: 128 }], ["has no tier for 128000 to 128000 prompt tokens"]],
    ["that overlap", [{ lte: 200 }, { gte: 128 }], ["has two tiers for 128000 to 200000 prompt tokens"]],
    ["that end", [{ lte: 128 }], ["has no tier for 128001 and more prompt tokens"]],
    ["that do not begin at 0", [{ gt: 1 }], ["has no tier for 0 to 1000 prompt tokens"]],
    [
      "that are empty",
      [{ gt: 5, lt: 2 }, {}],
      ["has a tier of prompt tokens that no call can match: from 5001 to 1999"],
    ],
  ])("tiers %s", (_name, ranges, problems) => {
    const items = ranges.map((range) => tier(1, range));
    expect(tierProblems(items).toSorted()).toEqual(problems.toSorted());
  });

  test("a plain price applies where no tier matches", () => {
    expect(tierProblems([item(1), tier(2, { gt: 200 })])).toEqual([]);
  });
});

function buildCatalogueOfAll() {
  const publishers = [...new Set(builtInModels.map(({ id }) => publisherOf(id)))];
  return buildCatalogue({ providers: [{ name: "all", publishers }], models: [] });
}
