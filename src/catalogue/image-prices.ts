import type { Pricings } from "./model.ts";
import { itemsAtResolution } from "./resolution-prices.ts";

/** What the price of an image depends on, apart from its number or its tokens. */
export interface ImageKind {
  resolution?: "1K" | "2K" | "4K";
}

/** The prices that apply to images of this kind. Most models have one price for all, which is returned unchanged. */
export function pricingsOfImage(pricings: Pricings, { resolution }: ImageKind): Pricings {
  const { image = [] } = pricings;
  if (image.every((item) => item.resolution === undefined)) return pricings;
  return { ...pricings, image: itemsAtResolution(image, resolution) };
}
