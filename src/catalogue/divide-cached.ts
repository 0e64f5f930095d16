import type { Usage } from "../canon/usage.ts";
import type { Pricings } from "./model.ts";

const PRICES = [
  ["audio", "audio_cache_read"],
  ["image", "image_cache_read"],
] as const;

/** Usage at one price list. */
interface UsagePart {
  usage: Usage;
  pricings: Pricings;
}

/**
 * Divides a usage where cached tokens of sound or images have a price of their own. A receipt has one counter for cached tokens, and its
 * cost must follow from what is stored, so that each price is a part with its usage (decision 0131).
 */
export function divideCached({ cached, ...usage }: Usage, pricings: Pricings): UsagePart[] {
  let left = usage.cacheRead ?? 0;
  const parts: UsagePart[] = [];
  for (const [kind, name] of PRICES) {
    const items = pricings[name];
    const cacheRead = Math.min(left, cached?.[kind] ?? 0);
    if (items === undefined || items.length === 0 || cacheRead === 0) continue;
    left -= cacheRead;
    parts.push({ usage: { cacheRead }, pricings: { input_cache_read: items } });
  }
  if (parts.length === 0) return [{ usage, pricings }];
  const { cacheRead: _all, ...rest } = usage;
  return [{ usage: left === 0 ? rest : { ...rest, cacheRead: left }, pricings }, ...parts];
}
