import type { Bound } from "./bound.ts";
import { isMoney } from "./budget.ts";
import { countFor, needOf, tokensFor } from "./check-budgets.ts";
import type { TokensAndCost } from "./entries/use-at-offers.ts";
import type { LimitName } from "./limits.ts";
import { type SharedNeed, ShareRefusal } from "./share-refusal.ts";

/**
 * Adds to a refusal for lack of a share everything that the call needs at every level: what it uses there if it is being admitted.
 */
export function withNeeds(refusal: unknown, wanted: Iterable<readonly [Bound, TokensAndCost | undefined]>): unknown {
  if (refusal instanceof ShareRefusal) {
    refusal.needs = [...wanted].flatMap(([bound, use]) => {
      if (use === undefined) return entryNeeds(bound);
      // A call enters its parts when it is admitted.
      return bound.level.within === undefined
        ? callNeeds(bound, use)
        : [...entryNeeds(bound), ...callNeeds(bound, use)];
    });
  }
  return refusal;
}

function entryNeeds(bound: Bound): SharedNeed[] {
  return [...rateNeed(bound, "concurrent", 1), ...rateNeed(bound, "requestsPerMinute", 1)];
}

function callNeeds(bound: Bound, call: TokensAndCost): SharedNeed[] {
  const { share } = bound.account;
  const ofLedger =
    share === undefined
      ? []
      : bound.budgets.map((budget) =>
          isMoney(budget.measure)
            ? needOf(share, budget.limit, call)
            : { share, limit: budget.limit, needed: countFor(bound, budget, call) },
        );
  const isPart = bound.level.within !== undefined;
  const tokens = isPart ? tokensFor(bound.tokensPerMinute, call) : call.estimatedTokens;
  return [...ofLedger, ...rateNeed(bound, "tokensPerMinute", tokens)];
}

function rateNeed(
  bound: Bound,
  limit: LimitName & ("concurrent" | "requestsPerMinute" | "tokensPerMinute"),
  needed: number,
): SharedNeed[] {
  const { share } = bound.account;
  return share === undefined || bound[limit] === undefined ? [] : [{ share, limit, needed }];
}
