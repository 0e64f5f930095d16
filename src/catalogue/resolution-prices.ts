import type { PriceItem } from "./model.ts";

/**
 * The prices of a list that apply at a resolution: its own, else the plain ones, else the last, which is closer than no
 * charge. Case does not matter: videos use `4k`, images `4K`.
 */
export function itemsAtResolution(items: readonly PriceItem[], resolution: string | undefined): PriceItem[] {
  const wanted = resolution?.toLowerCase();
  const own = items.filter((item) => item.resolution !== undefined && item.resolution.toLowerCase() === wanted);
  if (own.length > 0) return own.map(chosen);
  const plain = items.filter((item) => item.resolution === undefined);
  return plain.length > 0 ? plain : items.slice(-1).map(chosen);
}

function chosen({ resolution, ...item }: PriceItem): PriceItem {
  return resolution === undefined ? item : { ...item, chosenFor: resolution };
}
