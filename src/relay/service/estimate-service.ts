import { priceUsage } from "../../catalogue/pricing.ts";
import type { Target } from "../../routing/target.ts";
import type { EstimatedUse } from "../adapter-kind.ts";

/** What so many tokens may cost at each target. */
export const estimateTokensUse =
  (tokens: number) =>
  ({ pricings }: Pick<Target, "pricings">): EstimatedUse => ({
    costNanoUsd: priceUsage({ input: tokens }, pricings).costNanoUsd,
    tokens,
  });
