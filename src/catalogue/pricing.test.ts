import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Usage } from "../canon/usage.ts";
import { builtInModels } from "./built-in-models.ts";
import type { PriceItem, Pricings } from "./model.ts";
import { priceUsage } from "./pricing.ts";

const perToken = (value: number, conditions?: PriceItem["conditions"]): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...withoutAbsent({ conditions }),
});
const each = (value: number): PriceItem => ({ value, unit: "perCount", currency: "USD" });
const perSecond = (value: number): PriceItem => ({ value, unit: "perSecond", currency: "USD" });
const prompt = (gte: number, lt: number | null) => ({ prompt_tokens: { unit: "kTokens" as const, gte, lt } });

const TIERED: Pricings = {
  prompt: [perToken(1.25, prompt(0, 200)), perToken(2.5, prompt(200, null))],
  completion: [perToken(10, prompt(0, 200)), perToken(15, prompt(200, null))],
  input_cache_read: [perToken(0.125, prompt(0, 200)), perToken(0.25, prompt(200, null))],
};

describe("contract 2.9: tiers", () => {
  test("depend on the whole prompt and apply to the whole call", () => {
    expect(priceUsage({ input: 199_999, output: 10 }, TIERED)).toEqual({
      costNanoUsd: 199_999 * 1250 + 10 * 10_000,
      rule: "prompt 1.25 + completion 10 USD/MTok, prompt < 200k tier",
    });
    expect(priceUsage({ input: 200_000, output: 10 }, TIERED)).toEqual({
      costNanoUsd: 200_000 * 2500 + 10 * 15_000,
      rule: "prompt 2.5 + completion 15 USD/MTok, prompt ≥ 200k tier",
    });
  });

  test("the bound itself belongs to the lower tier, as publishers write it: ≤ 200k, then > 200k", () => {
    const { pricings } = builtInModels.find(({ id }) => id === "google/gemini-2.5-pro") ?? { pricings: {} };
    expect(priceUsage({ input: 200_000 }, pricings)).toEqual({
      costNanoUsd: 200_000 * 1250,
      rule: "prompt 1.25 USD/MTok, prompt ≤ 200k tier",
    });
    expect(priceUsage({ input: 200_001 }, pricings).costNanoUsd).toBe(200_001 * 2500);
  });

  test("audio tokens in a prompt have their own price where the model has one, and count for its size", () => {
    const pricings: Pricings = { prompt: [perToken(0.3)], audio: [perToken(1)] };
    expect(priceUsage({ input: 10, audioInput: 20 }, pricings)).toEqual({
      costNanoUsd: 10 * 300 + 20 * 1000,
      rule: "prompt 0.3 + audio 1 USD/MTok",
    });
    expect(priceUsage({ audioInput: 20 }, { prompt: [perToken(0.3)] }).costNanoUsd).toBe(20 * 300);
    expect(priceUsage({ input: 100_000, audioInput: 100_000 }, TIERED).costNanoUsd).toBe(200_000 * 2500);
  });

  test("count cached tokens for the size, in every counter", () => {
    const split: Usage = { input: 50_000, cacheRead: 50_000, cacheWrite5m: 50_000, cacheWrite1h: 50_000 };
    expect(priceUsage(split, TIERED).costNanoUsd).toBe(50_000 * 250 + 150_000 * 2500);
  });

  test("H35: reasoning with a price of its own follows the output price of a higher tier", () => {
    const pricings: Pricings = { ...TIERED, internal_reasoning: [perToken(10)] };
    expect(priceUsage({ input: 199_999, reasoning: 10 }, pricings).costNanoUsd).toBe(199_999 * 1250 + 10 * 10_000);
    expect(priceUsage({ input: 200_000, reasoning: 10 }, pricings).costNanoUsd).toBe(200_000 * 2500 + 10 * 15_000);
    const cheaper: Pricings = { ...TIERED, internal_reasoning: [perToken(3)] };
    expect(priceUsage({ input: 199_999, reasoning: 10 }, cheaper).costNanoUsd).toBe(199_999 * 1250 + 10 * 3_000);
    expect(priceUsage({ input: 200_000, reasoning: 10 }, cheaper).costNanoUsd).toBe(200_000 * 2500 + 10 * 15_000);
    const dearer: Pricings = { ...TIERED, internal_reasoning: [perToken(20)] };
    expect(priceUsage({ input: 200_000, reasoning: 10 }, dearer).costNanoUsd).toBe(200_000 * 2500 + 10 * 20_000);
    const own: Pricings = {
      ...TIERED,
      internal_reasoning: [perToken(4, prompt(0, 200)), perToken(6, prompt(200, null))],
    };
    expect(priceUsage({ input: 200_000, reasoning: 10 }, own).costNanoUsd).toBe(200_000 * 2500 + 10 * 6_000);
  });

  test("may depend on the size of the response, and on all four bounds", () => {
    const completion = (bounds: object) => ({ completion_tokens: { unit: "kTokens" as const, ...bounds } });
    const pricings: Pricings = {
      completion: [
        perToken(1, completion({ lte: 1 })),
        perToken(2, completion({ gt: 1, lt: 2 })),
        perToken(3, completion({ gte: 2, lt: null })),
      ],
    };
    const price = (output: number, reasoning: number) => priceUsage({ output, reasoning }, pricings).costNanoUsd;
    expect([price(1000, 0), price(500, 501), price(1000, 999), price(1, 1999)]).toEqual([
      1000 * 1000,
      1001 * 2000,
      1999 * 2000,
      2000 * 3000,
    ]);
  });

  test("a matching tier wins over a price without one; where none matches, the last is charged rather than nothing", () => {
    const special: Pricings = { prompt: [perToken(1), perToken(5, prompt(10, 20))] };
    expect(priceUsage({ input: 1000 }, special).costNanoUsd).toBe(1000 * 1000);
    expect(priceUsage({ input: 15_000 }, special).costNanoUsd).toBe(15_000 * 5000);
    const ending: Pricings = { prompt: [perToken(1, prompt(0, 10)), perToken(2, prompt(10, 20))] };
    expect(priceUsage({ input: 30_000 }, ending).costNanoUsd).toBe(30_000 * 2000);
  });
});

describe("H06: cached tokens are billed once, at their own price", () => {
  test("each counter by its price", () => {
    const pricings: Pricings = {
      prompt: [perToken(3)],
      completion: [perToken(15)],
      input_cache_read: [perToken(0.3)],
      input_cache_write_5_min: [perToken(3.75)],
      input_cache_write_1_h: [perToken(6)],
      internal_reasoning: [perToken(20)],
    };
    const usage = { input: 7, cacheRead: 1000, cacheWrite5m: 100, cacheWrite1h: 10, output: 5, reasoning: 2 };
    expect(priceUsage(usage, pricings)).toEqual({
      costNanoUsd: 7 * 3000 + 1000 * 300 + 100 * 3750 + 10 * 6000 + 5 * 15_000 + 2 * 20_000,
      rule: "prompt 3 + input_cache_read 0.3 + input_cache_write_5_min 3.75 + input_cache_write_1_h 6 + completion 15 + internal_reasoning 20 USD/MTok",
    });
  });

  test("for a missing price the next of its kind applies, and finally the prompt or completion price", () => {
    const plain: Pricings = { prompt: [perToken(3)], completion: [perToken(15)] };
    const usage = { input: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1, output: 1, reasoning: 1 };
    expect(priceUsage(usage, plain)).toEqual({
      costNanoUsd: 4 * 3000 + 2 * 15_000,
      rule: "prompt 3 + completion 15 USD/MTok",
    });
    const oneWrite: Pricings = { ...plain, input_cache_write: [perToken(4)] };
    expect(priceUsage({ cacheWrite5m: 1, cacheWrite1h: 1 }, oneWrite).costNanoUsd).toBe(2 * 4000);
    expect(priceUsage({ cacheWrite5m: 1 }, { ...oneWrite, input_cache_write_5_min: [perToken(5)] }).costNanoUsd).toBe(
      5000,
    );
  });
});

describe("other units than tokens", () => {
  test("searches, images and seconds", () => {
    const pricings: Pricings = { prompt: [perToken(1)], web_search: [each(0.01)], image: [each(0.04)] };
    expect(priceUsage({ input: 1, searches: 3, images: 2 }, pricings)).toEqual({
      costNanoUsd: 1000 + 3 * 10_000_000 + 2 * 40_000_000,
      rule: "prompt 1 USD/MTok + image 0.04 + web_search 0.01 USD each",
    });
    const video: Pricings = { video: [perSecond(0.2)], audio_and_video: [perSecond(0.4)] };
    expect(priceUsage({ seconds: 5.5 }, video)).toEqual({
      costNanoUsd: 2_200_000_000,
      rule: "audio_and_video 0.4 USD/s",
    });
    expect(priceUsage({ seconds: 8 }, { video: [perSecond(0.2)] }).costNanoUsd).toBe(1_600_000_000);
  });

  test("seconds and images are not charged at the price of one resolution before it was chosen", () => {
    const dear: PriceItem = { ...perSecond(0.6), resolution: "4k" };
    expect(priceUsage({ seconds: 1 }, { audio_and_video: [dear, perSecond(0.4)] }).rule).toBe(
      "audio_and_video 0.4 USD/s",
    );
    expect(priceUsage({ seconds: 1 }, { audio_and_video: [dear] })).toEqual({
      unpriced: ["audio_and_video"],
      costNanoUsd: 0,
      rule: "unpriced",
    });
    expect(priceUsage({ images: 1 }, { image: [{ ...each(0.09), resolution: "2K" }, each(0.045)] }).rule).toBe(
      "image 0.045 USD each",
    );
  });

  test("usage without a price is reported as unpriced", () => {
    expect(priceUsage({ input: 5, output: 5 }, {})).toEqual({
      unpriced: ["prompt", "completion"],
      costNanoUsd: 0,
      rule: "unpriced",
    });
    expect(priceUsage({ input: 5, searches: 1 }, { prompt: [perToken(1)] })).toEqual({
      costNanoUsd: 5000,
      rule: "prompt 1 USD/MTok, web_search unpriced",
      unpriced: ["web_search"],
    });
    expect(priceUsage({ input: 0 }, TIERED)).toEqual({ costNanoUsd: 0, rule: "nothing used" });
    expect(priceUsage({ input: 9 }, { prompt: [perToken(0)] })).toEqual({ costNanoUsd: 0, rule: "prompt 0 USD/MTok" });
  });
});

describe("H06: an image is paid for once, by its tokens or by number", () => {
  const BY_TOKENS: Pricings = {
    prompt: [perToken(5)],
    completion: [perToken(10)],
    image: [perToken(30)],
    image_input: [perToken(8)],
  };

  test("by tokens: text and images of the prompt and of the answer, each at its own price", () => {
    const usage = { input: 10, imageInput: 100, output: 40, imageOutput: 4160, images: 2 };
    expect(priceUsage(usage, BY_TOKENS)).toEqual({
      costNanoUsd: 10 * 5000 + 100 * 8000 + 40 * 10_000 + 4160 * 30_000,
      rule: "prompt 5 + completion 10 + image_input 8 + image 30 USD/MTok",
    });
  });

  test("image tokens without a price of their own cost what text tokens cost, and the other way round", () => {
    const words: Pricings = { prompt: [perToken(2)], completion: [perToken(12)] };
    expect(priceUsage({ imageInput: 7, imageOutput: 9, images: 1 }, words)).toEqual({
      costNanoUsd: 7 * 2000 + 9 * 12_000,
      rule: "prompt 2 + completion 12 USD/MTok",
    });
    expect(priceUsage({ output: 9, images: 1 }, { image: [perToken(40)] })).toEqual({
      costNanoUsd: 9 * 40_000,
      rule: "image 40 USD/MTok",
    });
  });

  test("reasoning and text next to an image keep their prices, whichever way the image is priced", () => {
    const usage = { input: 33, output: 660, reasoning: 529, imageOutput: 1120, images: 1 };
    const words: Pricings = { prompt: [perToken(2)], completion: [perToken(12)] };
    const wordsCost = 33 * 2000 + (660 + 529) * 12_000;
    expect(priceUsage(usage, { ...words, image: [perToken(120)] })).toEqual({
      costNanoUsd: wordsCost + 1120 * 120_000,
      rule: "prompt 2 + completion 12 + image 120 USD/MTok",
    });
    expect(priceUsage(usage, { ...words, image: [each(0.134)] })).toEqual({
      costNanoUsd: wordsCost + 134_000_000,
      rule: "prompt 2 + completion 12 USD/MTok + image 0.134 USD each",
    });
  });

  test("by number: reported tokens are neither charged nor unpriced", () => {
    const usage = { input: 12, imageInput: 500, output: 3, imageOutput: 49_152, images: 3 };
    expect(priceUsage(usage, { image: [each(0.035)] })).toEqual({
      costNanoUsd: 105_000_000,
      rule: "image 0.035 USD each",
    });
    expect(priceUsage({ ...usage, images: 0 }, { image: [each(0.035)] }).rule).toBe("unpriced");
    expect(priceUsage({ ...usage, searches: 1 }, { image: [each(0.035)] }).rule).toBe(
      "image 0.035 USD each, web_search unpriced",
    );
  });

  test("images without any price are reported as unpriced", () => {
    expect(priceUsage({ images: 1 }, {})).toEqual({ unpriced: ["image"], costNanoUsd: 0, rule: "unpriced" });
    expect(priceUsage({ images: 1, imageOutput: 1000 }, {})).toEqual({
      unpriced: ["image"],
      costNanoUsd: 0,
      rule: "unpriced",
    });
    expect(priceUsage({ images: 1 }, BY_TOKENS)).toEqual({ unpriced: ["image"], costNanoUsd: 0, rule: "unpriced" });
    expect(priceUsage({ input: 10, images: 1 }, BY_TOKENS).rule).toBe("prompt 5 USD/MTok, image unpriced");
  });

  test("image tokens count for the size that tiers depend on", () => {
    expect(priceUsage({ input: 100_000, imageInput: 100_000 }, TIERED).costNanoUsd).toBe(200_000 * 2500);
  });
});

describe("the arithmetic is exact", () => {
  test("no floating-point drift, and rounding half up, once, at the end", () => {
    expect(priceUsage({ input: 3 }, { prompt: [perToken(0.1)] }).costNanoUsd).toBe(300);
    expect(priceUsage({ input: 1_234_567 }, { prompt: [perToken(0.07)] }).costNanoUsd).toBe(86_419_690);
    expect(priceUsage({ input: 1 }, { prompt: [perToken(0.0005)] }).costNanoUsd).toBe(1);
    expect(priceUsage({ input: 1 }, { prompt: [perToken(0.0004)] }).costNanoUsd).toBe(0);
    const halves: Pricings = { prompt: [perToken(0.0004)], completion: [perToken(0.0004)] };
    expect(priceUsage({ input: 1, output: 1 }, halves).costNanoUsd).toBe(1);
    const large = { input: 7_000_000_001, output: 999_999_999 };
    expect(priceUsage(large, { prompt: [perToken(0.123)], completion: [perToken(1.001)] }).costNanoUsd).toBe(
      7_000_000_001 * 123 + 999_999_999 * 1001,
    );
  });

  const counter = fc.option(fc.nat({ max: 20_000_000 }), { nil: undefined });
  const usages = fc.record({
    input: counter,
    cacheRead: counter,
    cacheWrite5m: counter,
    cacheWrite1h: counter,
    output: counter,
    reasoning: counter,
    searches: fc.nat({ max: 1000 }),
  });
  const spoken = (usage: Record<string, number | undefined>): Usage =>
    Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== undefined));
  const thousandths = fc.nat({ max: 500_000 }).map((value) => value / 1000);
  const flat: fc.Arbitrary<Pricings> = fc.record(
    {
      prompt: thousandths.map((value) => [perToken(value)]),
      completion: thousandths.map((value) => [perToken(value)]),
      input_cache_read: thousandths.map((value) => [perToken(value)]),
      input_cache_write: thousandths.map((value) => [perToken(value)]),
      internal_reasoning: thousandths.map((value) => [perToken(value)]),
      web_search: thousandths.map((value) => [each(value)]),
    },
    { requiredKeys: [] },
  );

  test("H06: within a tier the cost of a call is the sum of its counters' costs", () => {
    fc.assert(
      fc.property(usages, flat, (usage, pricings) => {
        const parts = Object.entries(spoken(usage)).map(
          ([name, count]) => priceUsage({ [name]: count }, pricings).costNanoUsd,
        );
        expect(priceUsage(spoken(usage), pricings).costNanoUsd).toBe(parts.reduce((sum, part) => sum + part, 0));
      }),
    );
  });

  test("no usage of any model has a negative cost, and invalid counters cost nothing", () => {
    const broken = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));
    const anything = fc.record({ input: broken, cacheRead: broken, output: broken, images: broken, seconds: broken });
    fc.assert(
      fc.property(fc.constantFrom(...builtInModels), anything, ({ pricings }, usage) => {
        const { costNanoUsd } = priceUsage(spoken(usage), pricings);
        expect(costNanoUsd).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(priceUsage({ input: -5, output: Number.NaN, cacheRead: Number.POSITIVE_INFINITY }, TIERED).costNanoUsd).toBe(
      0,
    );
  });

  test("every built-in model that has prices has one for the plainest call of its kind", () => {
    const plainest: Record<string, Usage> = {
      text: { input: 9, output: 9 },
      image: { images: 1, imageOutput: 9 },
      video: { seconds: 5 },
      embedding: { input: 9 },
      rerank: { input: 9 },
      moderation: { input: 9 },
    };
    const sound = ({ characters, audio, audio_output }: Pricings): Usage => {
      if (characters) return { characters: 5 };
      if (audio_output) return { input: 5, audioOutput: 9 };
      return audio?.[0]?.unit === "perSecond" ? { seconds: 5 } : { audioInput: 5, output: 9 };
    };
    for (const { id, kind, pricings } of builtInModels) {
      if (Object.keys(pricings).length === 0) continue;
      const used = pricings.search_unit === undefined ? (plainest[kind] ?? sound(pricings)) : { searches: 1 };
      expect(`${id}: ${priceUsage(used, pricings).rule}`).not.toMatch(/unpriced|nothing used/);
    }
  });
});
