import type { Usage } from "../../canon/usage.ts";
import { type ImageKind, pricingsOfImage } from "../../catalogue/image-prices.ts";
import type { Offer, Pricings } from "../../catalogue/model.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { PixelSize } from "../../media/image.ts";
import type { ImageCall } from "../../media/image-call.ts";

/**
 * The most tokens that an image of each quality takes by the publishers' own tables, where images are priced by tokens and the
 * request does not set a size. Where no quality is set the model chooses, and may choose the best.
 */
const MAX_TOKENS: ReadonlyMap<string, number> = new Map([
  ["low", 408],
  ["medium", 1_756],
  ["standard", 1_756],
  ["xhigh", 5_930],
  ["max", 13_342],
]);
/** Of any quality. */
export const MAX_TOKENS_OF_ANY = 7_024;

/** How finely an image is divided along its longer side, by quality: the finest of all models. */
const STEPS: ReadonlyMap<string, number> = new Map([
  ["low", 16],
  ["medium", 48],
  ["standard", 48],
  ["xhigh", 64],
]);
const STEPS_OF_ANY = 96;

/**
 * The tokens of an image of this size, by the formula of the vendor's calculator for models that accept any size: 7,024 for
 * 1024x1024 and 13,342 for 3840x2160 in high quality. Square images take the most.
 */
function tokensOfSize({ width, height }: PixelSize, quality: string): number {
  const long = STEPS.get(quality) ?? STEPS_OF_ANY;
  const short = Math.round((long * Math.min(width, height)) / Math.max(width, height));
  return Math.ceil((long * short * (2_000_000 + width * height)) / 4_000_000);
}

/** What the number of tokens of an image depends on. */
type ImageSettings = Pick<ImageCall, "quality" | "size">;

function mostTokens({ quality = "", size = "auto" }: ImageSettings): number {
  const listed = MAX_TOKENS.get(quality) ?? MAX_TOKENS_OF_ANY;
  return size === "auto" ? listed : Math.max(listed, tokensOfSize(size, quality));
}

/** The cost of this many images at the most expensive of the offers (H23). */
export function expectedImageCost(
  count: number,
  kind: ImageKind & ImageSettings,
  offers: readonly Pick<Offer, "pricings">[],
): number {
  const costs = offers.map((offer) => {
    const pricings = pricingsOfImage(offer.pricings, kind);
    return priceUsage(expectedImageUsage(count, kind, pricings), pricings).costNanoUsd;
  });
  return Math.max(0, ...costs);
}

/** The most that this many images use, in the unit that they are priced by. */
export function expectedImageUsage(count: number, settings: ImageSettings, pricings: Pricings): Usage {
  if (priceOf(pricings, "images").item !== undefined) return { images: count };
  return { images: count, imageOutput: count * mostTokens(settings) };
}
