import type { CatalogueModel } from "../api/types.ts";

export interface PriceAges {
  prices: number;
  /** Offers without any price. */
  unpriced: { model: string; provider: string }[];
  oldest: { model: string; days: number } | undefined;
  /** How many prices are from each origin. */
  byOrigin: ReadonlyMap<string, number>;
  sources: { name: string; origin: string; asOf: string | null; days: number | null; prices: number }[];
}

/** Where the prices in force are from, and how old they are. */
export function priceAges(models: readonly CatalogueModel[]): PriceAges {
  const unpriced: PriceAges["unpriced"] = [];
  const byOrigin = new Map<string, number>();
  const sources = new Map<string, PriceAges["sources"][number]>();
  let prices = 0;
  let oldest: PriceAges["oldest"];
  for (const { id: model, offers } of models) {
    for (const { provider, prices: own } of offers) {
      const all = Object.values(own);
      if (all.length === 0) unpriced.push({ model, provider });
      for (const { origin, source, as_of: asOf, days } of all) {
        prices++;
        byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + 1);
        const key = JSON.stringify([origin, source, asOf]);
        const known = sources.get(key) ?? { name: source ?? origin, origin, asOf, days, prices: 0 };
        sources.set(key, { ...known, prices: known.prices + 1 });
        if (days !== null && (oldest === undefined || days > oldest.days)) oldest = { model, days };
      }
    }
  }
  return {
    prices,
    unpriced,
    oldest,
    byOrigin,
    sources: [...sources.values()].sort((one, other) => other.prices - one.prices),
  };
}
