import { GatewayError } from "../../canon/error.ts";
import type { Target } from "../../routing/target.ts";

/**
 * The offers whose models can make what was asked for. The call is refused only where no model can, with the reason of the
 * first (contract 2.1, 8).
 */
export function offersThatFit<At extends Target, Fitted>(
  plan: readonly At[],
  fit: (target: At) => Fitted,
): { target: At; fitted: Fitted }[] {
  let refusal: GatewayError | undefined;
  const fitting = plan.flatMap((target) => {
    try {
      return [{ target, fitted: fit(target) }];
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.rule.status !== 400) throw thrown;
      refusal ??= thrown;
      return [];
    }
  });
  if (fitting.length === 0) throw refusal ?? new Error("a plan has at least one offer");
  return fitting;
}
