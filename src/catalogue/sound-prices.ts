import type { Pricings } from "./model.ts";
import { priceOf } from "./price-table.ts";

/** The units in which audio is priced. */
export function soundPrices(pricings: Pricings) {
  const has = (counter: Parameters<typeof priceOf>[1]): boolean => priceOf(pricings, counter).item !== undefined;
  const { name, item } = priceOf(pricings, "seconds");
  return {
    byCharacter: has("characters"),
    bySecond: item !== undefined && name === "audio",
    byToken: has("input") || has("audioOutput"),
  };
}
