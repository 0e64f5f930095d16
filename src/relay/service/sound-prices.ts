import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import type { Pricings } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { Target } from "../../routing/target.ts";
import type { EstimatedUse } from "../adapter-kind.ts";

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

/** What a call may use at each target, which may count in a unit of its own. */
export const estimateSound =
  (expected: (pricings: Pricings) => Usage) =>
  ({ pricings }: Pick<Target, "pricings">): EstimatedUse => {
    const usage = expected(pricings);
    return {
      costNanoUsd: priceUsage(usage, pricings).costNanoUsd,
      tokens: promptTokens(usage) + completionTokens(usage),
    };
  };
