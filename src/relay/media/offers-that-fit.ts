import { GatewayError } from "../../canon/error.ts";
import type { MediaOffer } from "./plan.ts";

/**
 * The offers whose models can make what was asked for. What one cannot, another may: only where none can is the call
 * refused, in the words of the first (contract 2.1, 8).
 */
export function offersThatFit<Wire, Fitted>(
  plan: readonly MediaOffer<Wire>[],
  fit: (planned: MediaOffer<Wire>) => Fitted,
): { planned: MediaOffer<Wire>; fitted: Fitted }[] {
  let refusal: GatewayError | undefined;
  const fitting = plan.flatMap((planned) => {
    try {
      return [{ planned, fitted: fit(planned) }];
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.rule.status !== 400) throw thrown;
      refusal ??= thrown;
      return [];
    }
  });
  if (fitting.length === 0) throw refusal ?? new Error("a plan has at least one offer");
  return fitting;
}
