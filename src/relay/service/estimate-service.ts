import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import type { Pricings } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { Target } from "../../routing/target.ts";
import type { EstimatedUse } from "../request/adapter-kind.ts";

/** The estimated usage at each target, which may have its own unit. */
export const estimateService =
  (expected: (pricings: Pricings) => Usage) =>
  ({ pricings }: Pick<Target, "pricings">): EstimatedUse => {
    const usage = expected(pricings);
    const tokens = promptTokens(usage) + completionTokens(usage);
    return { costNanoUsd: priceUsage(usage, pricings).costNanoUsd, tokens };
  };

/** The same where every target counts tokens of input. */
export const estimateInputUse = (input: number) => estimateService(() => ({ input }));
