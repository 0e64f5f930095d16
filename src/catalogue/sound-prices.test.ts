import { expect, test } from "bun:test";
import type { PriceItem } from "./model.ts";
import { priceUsage } from "./pricing.ts";

const usd = (value: number, unit: PriceItem["unit"]): PriceItem[] => [{ value, unit, currency: "USD" }];

test("choices 5: speech is priced by characters, to the character", () => {
  const prices = { characters: usd(15, "perMCharacters") };
  expect(priceUsage({ characters: 43 }, prices)).toEqual({
    costNanoUsd: 645_000,
    rule: "characters 15 USD/MCharacters",
  });
  expect(priceUsage({ characters: 1 }, prices).costNanoUsd).toBe(15_000);
});

test("choices 5: audio tokens have their own input and output prices; without one they cost the same as text", () => {
  const prices = {
    prompt: usd(2.5, "perMTokens"),
    audio: usd(6, "perMTokens"),
    completion: usd(10, "perMTokens"),
    audio_output: usd(12, "perMTokens"),
  };
  const usage = { input: 100, audioInput: 200, output: 10, audioOutput: 50 };
  expect(priceUsage(usage, prices).costNanoUsd).toBe(100 * 2_500 + 200 * 6_000 + 10 * 10_000 + 50 * 12_000);
  expect(priceUsage({ audioOutput: 50 }, { completion: prices.completion }).costNanoUsd).toBe(500_000);
});

test("choices 5: recordings are priced by the second", () => {
  const prices = { audio: usd(0.0001, "perSecond") };
  expect(priceUsage({ seconds: 61 }, prices)).toEqual({ costNanoUsd: 6_100_000, rule: "audio 0.0001 USD/s" });
  // The same name by tokens is another price.
  expect(priceUsage({ seconds: 61 }, { audio: usd(6, "perMTokens") }).rule).toBe("unpriced");
});
