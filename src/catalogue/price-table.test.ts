import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { builtInModels } from "./built-in-models.ts";
import { MODEL_KINDS, OWN_PRICE_NAMES, PRICE_NAMES, type PriceItem, type Pricings } from "./model.ts";
import { priceOf, unknownPrices } from "./price-table.ts";
import { priceUsage } from "./pricing.ts";
import { worstCost } from "./worst-prices.ts";

const usd = (value: number, more: Partial<PriceItem> = {}): PriceItem[] => [
  { value, unit: "perMTokens", currency: "USD", ...more },
];
const upTo = (thousands: number): Partial<PriceItem> => ({
  conditions: { prompt_tokens: { unit: "kTokens", lte: thousands } },
});

describe("H61: a price that exists in part leaves the rest unknown", () => {
  test("a counter is priced, free or unknown, and derives its price from another only where the table says so", () => {
    const list: Pricings = { prompt: usd(2), completion: usd(0) };
    expect(priceOf(list, "input")).toMatchObject({ state: "priced", name: "prompt", item: { value: 2 } });
    expect(priceOf(list, "cacheRead")).toMatchObject({ state: "priced", name: "prompt" });
    expect(priceOf(list, "output").state).toBe("free");
    expect(priceOf(list, "reasoning")).toMatchObject({ state: "free", name: "completion" });
    expect(priceOf(list, "images")).toEqual({ state: "unknown", name: "image" });
    expect(priceOf({ prompt: usd(2) }, "output")).toEqual({ state: "unknown", name: "completion" });
    expect(priceOf({ completion: usd(2) }, "input").state).toBe("unknown");
  });

  test("a price for one size is unknown for others: they are charged at it, and listed", () => {
    const list: Pricings = { prompt: usd(2, upTo(200)), completion: usd(4) };
    expect(priceOf(list, "input", { prompt: 200_000, completion: 0 }).state).toBe("priced");
    expect(priceOf(list, "input", { prompt: 200_001, completion: 0 })).toMatchObject({
      state: "unknown",
      item: { value: 2 },
    });
    expect(priceUsage({ input: 300_000 }, list)).toMatchObject({ costNanoUsd: 600_000_000, unpriced: ["prompt"] });
    expect(unknownPrices("text", { pricings: list, contextLength: 200_000 })).toEqual([]);
    expect(unknownPrices("text", { pricings: list, contextLength: 400_000 })).toEqual(["prompt"]);
    expect(worstCost(300_000, 0, { pricings: list }, [])).toBe(600_000_000);
  });

  test("a model needs the prices of what every call of its kind uses", () => {
    expect(unknownPrices("text", { pricings: {} })).toEqual(["prompt", "completion"]);
    expect(unknownPrices("text", { pricings: { prompt: usd(1) } })).toEqual(["completion"]);
    expect(unknownPrices("embedding", { pricings: { prompt: usd(1) } })).toEqual([]);
    expect(unknownPrices("image", { pricings: { image: usd(40) } })).toEqual([]);
    expect(unknownPrices("transcription", { pricings: { audio: usd(0.1, { unit: "perSecond" }) } })).toEqual([]);
    for (const kind of MODEL_KINDS) expect(unknownPrices(kind, { pricings: {} })).not.toEqual([]);
  });

  test("of the built-in models, those alone are unknown in part that state no price at all", () => {
    const inPart = builtInModels.filter(
      (model) => Object.keys(model.pricings).length > 0 && unknownPrices(model.kind, priced(model)).length > 0,
    );
    expect(inPart.map(({ id }) => id)).toEqual([]);
  });
});

/** Prices by resolution apply to what is made, not to the model. */
function priced({ pricings, contextLength }: (typeof builtInModels)[number]) {
  const plain = Object.fromEntries(
    Object.entries(pricings).map(([name, items]) => [name, items.map(({ resolution: _, ...item }) => item)]),
  );
  return { pricings: plain, ...(contextLength === undefined ? {} : { contextLength }) };
}

test("H61: only the catalogue reads price lists", async () => {
  const root = new URL("../", import.meta.url).pathname;
  const readers: string[] = [];
  for (const file of new Glob("**/*.ts").scanSync(root)) {
    if (file.startsWith("catalogue/") || /\.(test|sample|contract)\.ts$/.test(file)) continue;
    const text = await Bun.file(root + file).text();
    if (READS.test(text)) readers.push(file);
  }
  // The form of a file, and fields that other gateways write.
  expect(readers).toEqual([]);
});

const READS = new RegExp(
  String.raw`\bpricings\??\.?(\.|\[)"?(${[...PRICE_NAMES, ...OWN_PRICE_NAMES].join("|")})\b|\{[^{}]*\b(${["prompt", "completion", "image", "audio", "web_search"].join("|")}) = \[\][^{}]*\}: Pricings`,
);
