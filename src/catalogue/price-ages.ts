import type { Catalogue, ModelOverlay } from "./catalogue.ts";
import { type Origin, pricesInForce } from "./value-origins.ts";

/** How old a price is that calls are billed by. */
export interface PriceAge {
  model: string;
  provider: string;
  price: string;
  origin: Origin;
  source: string | null;
  as_of: string | null;
  /** Null where the day is unknown, as for configured prices. */
  days: number | null;
}

const DAY_MS = 86_400_000;

export function priceAges(
  catalogue: Pick<Catalogue, "list" | "sourceOf">,
  overlays: ReadonlyMap<string, ModelOverlay>,
  nowMs: number,
): PriceAge[] {
  return catalogue.list().flatMap((model) =>
    model.offers.flatMap((offer) =>
      pricesInForce(model, offer, overlays.get(model.id), catalogue).map(({ name, origin, source, asOf }) => ({
        model: model.id,
        provider: offer.provider,
        price: name,
        origin,
        source: source ?? null,
        as_of: asOf ?? null,
        days: asOf === undefined ? null : Math.max(0, Math.floor((nowMs - Date.parse(asOf)) / DAY_MS)),
      })),
    ),
  );
}
