import type { Usage } from "../../canon/usage.ts";
import { type ImageKind, pricingsOfImage } from "../../catalogue/image-prices.ts";
import type { Offer, Pricings } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";

/**
 * The most tokens that an image of each quality takes by the publishers' own tables, where images are priced by tokens.
 * Where no quality is set the model chooses, and may choose the best.
 */
const MAX_TOKENS: ReadonlyMap<string, number> = new Map([
  ["low", 408],
  ["medium", 1_584],
  ["standard", 1_584],
  ["xhigh", 5_930],
  ["max", 13_342],
]);
/** Of any quality. */
export const MAX_TOKENS_OF_ANY = 6_240;

/** The cost of this many images at the most expensive of the offers (H23). */
export function expectedImageCost(
  count: number,
  kind: ImageKind & { quality?: string | undefined },
  offers: readonly Pick<Offer, "pricings">[],
): number {
  const costs = offers.map((offer) => {
    const pricings = pricingsOfImage(offer.pricings, kind);
    return priceUsage(expectedImageUsage(count, kind.quality, pricings), pricings).costNanoUsd;
  });
  return Math.max(0, ...costs);
}

/** The most that this many images use, in the unit that they are priced by. */
export function expectedImageUsage(count: number, quality: string | undefined, { image = [] }: Pricings): Usage {
  if (image.some(({ unit }) => unit === "perCount")) return { images: count };
  return { images: count, imageOutput: count * (MAX_TOKENS.get(quality ?? "") ?? MAX_TOKENS_OF_ANY) };
}
