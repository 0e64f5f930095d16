import type { Offer } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";

/** What so many tokens may cost at the most expensive of the offers (H23). */
export function estimateTokensUse(tokens: number, offers: readonly Pick<Offer, "pricings">[]) {
  const costs = offers.map(({ pricings }) => priceUsage({ input: tokens }, pricings).costNanoUsd);
  return { estimatedCostNanoUsd: Math.max(0, ...costs), estimatedTokens: tokens };
}
