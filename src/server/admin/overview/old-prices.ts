import type { Catalogue, ModelOverlay } from "../../../catalogue/catalogue.ts";
import { priceAges } from "../../../catalogue/price-ages.ts";
import type { Finding } from "../schemas/attention.ts";

type PricesOld = Extract<Finding, { kind: "prices_old" }>;

/** Vendors change prices a few times a year. */
const OLD_DAYS = 90;
const DAY_MS = 86_400_000;

/** The prices of the catalogue that are too old to be relied on. It has thousands, and their ages change once a day. */
export class OldPrices {
  #known: { catalogue: Catalogue; day: number; found: PricesOld | undefined } | undefined;

  /** Undefined if there are none. */
  find(catalogue: Catalogue, overlays: () => ReadonlyMap<string, ModelOverlay>, nowMs: number): PricesOld | undefined {
    const day = Math.floor(nowMs / DAY_MS);
    if (this.#known?.catalogue !== catalogue || this.#known.day !== day)
      this.#known = { catalogue, day, found: findOld(catalogue, overlays(), nowMs) };
    return this.#known.found;
  }
}

function findOld(catalogue: Catalogue, overlays: ReadonlyMap<string, ModelOverlay>, nowMs: number) {
  const old = priceAges(catalogue, overlays, nowMs).flatMap(({ model, provider, as_of, days }) =>
    as_of === null || days === null || days < OLD_DAYS ? [] : [{ model, provider, as_of, days }],
  );
  const [oldest] = old.toSorted((one, other) => other.days - one.days);
  if (oldest === undefined) return undefined;
  return { kind: "prices_old" as const, severity: "warn" as const, since: null, prices: old.length, ...oldest };
}
