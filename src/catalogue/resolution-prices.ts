import type { PriceItem } from "./model.ts";

/**
 * Of a list of prices those that hold at a resolution: its own where it has any, else the plain ones. Where the list has
 * neither, the last is taken, which is nearer the truth than no charge at all. Case does not matter: videos are
 * spoken of as `4k`, images as `4K`.
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
