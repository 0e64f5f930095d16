import { describe, expect, test } from "bun:test";
import type { CatalogueModel, OfferPrices } from "../api/types.ts";
import { type CallSize, costOf, pricedParts } from "./cost-of.ts";
import { appliesTo, dollars, listPrices, priceStateOf, priceWords } from "./prices.ts";

type Prices = OfferPrices["prices"];
type Offer = CatalogueModel["offers"][number];

const item = (value: number, more = {}) => ({ value, unit: "perMTokens", currency: "USD", ...more });
const price = (name: string, ...items: Prices[number]["items"]): Prices[number] => ({
  name,
  items,
  origin: "built-in",
  source: null,
  as_of: null,
});
const offer = (prices: Record<string, [value: number, unit: string, more?: boolean]>, priced = true): Offer => ({
  provider: "acme",
  upstream_model: "m",
  dialect: null,
  weight: null,
  traits: null,
  priced,
  measured: null,
  prices: Object.fromEntries(
    Object.entries(prices).map(([name, [value, unit, more = false]]) => [
      name,
      { value, unit, more, origin: "built-in", source: null, as_of: null, days: null },
    ]),
  ),
});
const SIZE: CallSize = { prompt: 0, cached: 0, completion: 0, images: 0, seconds: 0, characters: 0 };

describe("prices in words", () => {
  test.each([
    [3, "$3"],
    [0.15, "$0.15"],
    [0.1, "$0.10"],
    [2.5, "$2.50"],
    [0.0375, "$0.0375"],
    [0.000006, "$0.000006"],
    [0, "$0"],
  ])("%p is %p", (value, text) => expect(dollars(value)).toBe(text));

  test("a price of zero is free, and no price is unpriced", () => {
    expect(priceStateOf(offer({ prompt: [0, "perMTokens"], image: [0, "perCount"] }))).toBe("free");
    expect(priceStateOf(offer({}, false))).toBe("unpriced");
    expect(priceStateOf(offer({ prompt: [0, "perMTokens", true] }))).toBe("priced");
    expect(priceWords({ offers: [offer({}, false)] })).toBe("unpriced");
    expect(priceWords({ offers: [] })).toBe("no offer");
  });

  test("a list shows tokens by the million, and everything else with its unit", () => {
    const text = offer({ prompt: [1.25, "perMTokens", true], completion: [10, "perMTokens"] });
    expect(listPrices(text)).toMatchObject({
      input: { text: "$1.25", more: true },
      output: { text: "$10", more: false },
    });
    expect(priceWords({ offers: [text] })).toBe("$1.25+ in, $10 out");
    expect(listPrices(offer({ image: [0.04, "perCount"] })).output).toMatchObject({ text: "$0.04", per: "image" });
    expect(priceWords({ offers: [offer({ video: [0.4, "perSecond"] })] })).toBe("$0.40/s of video");
    expect(listPrices(undefined)).toEqual({ input: undefined, cached: undefined, output: undefined });
  });

  test("conditions are words", () => {
    const range = { unit: "kTokens", gt: 200, lt: null };
    expect(appliesTo(item(1, { conditions: { prompt_tokens: range } }))).toBe("prompt tokens above 200K");
    expect(appliesTo(item(1, { resolution: "4K" }))).toBe("4K");
    expect(appliesTo(item(1, { conditions: { prompt_tokens: { gte: 0, lte: null } } }))).toBe("");
  });
});

describe("the cost of a call", () => {
  const tiers = (low: number, high: number) => [
    item(low, { conditions: { prompt_tokens: { unit: "kTokens", lte: 200 } } }),
    item(high, { conditions: { prompt_tokens: { unit: "kTokens", gt: 200 } } }),
  ];
  const prices = [price("prompt", ...tiers(1, 2)), price("completion", item(10)), price("input_cache_read", item(0.1))];

  test("counts cached tokens at their price, and the tier of the whole prompt", () => {
    // 600 at $1, 400 at $0.10 and 100 at $10, each per million.
    expect(costOf(prices, { ...SIZE, prompt: 1_000, cached: 400, completion: 100 })).toBe(600_000 + 40_000 + 1_000_000);
    expect(costOf(prices, { ...SIZE, prompt: 200_001 })).toBe(400_002_000);
    expect(costOf(prices, { ...SIZE, prompt: 200_000 })).toBe(200_000_000);
    expect(costOf(prices.slice(0, 2), { ...SIZE, prompt: 10, cached: 10 })).toBe(10_000);
  });

  test("is unknown if a part has no price, and zero if that is the price", () => {
    expect(costOf(prices, { ...SIZE, images: 1 })).toBeUndefined();
    expect(costOf([], { ...SIZE, prompt: 1 })).toBeUndefined();
    expect(costOf([price("prompt", item(0))], { ...SIZE, prompt: 5 })).toBe(0);
  });

  test("of media goes by their units", () => {
    const media = [
      price("image", item(0.04, { unit: "perCount" }), item(0.12, { unit: "perCount", resolution: "4K" })),
      price("video", item(0.4, { unit: "perSecond" })),
      price("characters", item(15, { unit: "perMCharacters" })),
    ];
    expect(costOf(media, { ...SIZE, images: 2, seconds: 4, characters: 1_000 })).toBe(
      80_000_000 + 1_600_000_000 + 15_000_000,
    );
    expect([...pricedParts([{ prices: media }])]).toEqual(["images", "seconds", "characters"]);
  });
});
