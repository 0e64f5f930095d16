import { describe, expect, test } from "bun:test";
import { divideCached } from "./divide-cached.ts";
import type { Pricings } from "./model.ts";

const usd = (value: number) => [{ value, unit: "perMTokens" as const, currency: "USD" as const }];
const PLAIN: Pricings = { prompt: usd(4), input_cache_read: usd(1) };
const OWN: Pricings = { ...PLAIN, audio_cache_read: usd(2), image_cache_read: usd(3) };

describe("decision 0131: cached sound and images are parts of a bill", () => {
  test("where they have prices of their own; the parts add up to what was used", () => {
    const usage = { input: 10, cacheRead: 100, cached: { audio: 60, image: 30 } };
    expect(divideCached(usage, OWN)).toEqual([
      { usage: { input: 10, cacheRead: 10 }, pricings: OWN },
      { usage: { cacheRead: 60 }, pricings: { input_cache_read: usd(2) } },
      { usage: { cacheRead: 30 }, pricings: { input_cache_read: usd(3) } },
    ]);
    expect(divideCached(usage, PLAIN)).toEqual([{ usage: { input: 10, cacheRead: 100 }, pricings: PLAIN }]);
  });

  test("a host that counts more sound than it has cached is not believed", () => {
    expect(divideCached({ cacheRead: 50, cached: { audio: 60, image: 30 } }, OWN)).toEqual([
      { usage: {}, pricings: OWN },
      { usage: { cacheRead: 50 }, pricings: { input_cache_read: usd(2) } },
    ]);
    expect(divideCached({ input: 5, cached: { audio: 60 } }, OWN)).toEqual([{ usage: { input: 5 }, pricings: OWN }]);
  });
});
