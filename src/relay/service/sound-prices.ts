import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import type { Offer, Pricings } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";

/** By what sound is paid at these prices. */
export function soundPrices({
  characters = [],
  audio = [],
  prompt = [],
  completion = [],
  audio_output = [],
}: Pricings) {
  return {
    byCharacter: characters.length > 0,
    bySecond: audio.some(({ unit }) => unit === "perSecond"),
    byToken: prompt.length + completion.length + audio_output.length > 0,
  };
}

/** What a call may use at the most expensive of the offers (H23), each of which may count in a unit of its own. */
export function estimateSound(offers: readonly Pick<Offer, "pricings">[], expected: (pricings: Pricings) => Usage) {
  const uses = offers.map(({ pricings }) => ({ pricings, usage: expected(pricings) }));
  return {
    estimatedCostNanoUsd: Math.max(0, ...uses.map(({ usage, pricings }) => priceUsage(usage, pricings).costNanoUsd)),
    estimatedTokens: Math.max(0, ...uses.map(({ usage }) => promptTokens(usage) + completionTokens(usage))),
  };
}
