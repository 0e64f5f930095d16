import type { Bound } from "./bound.ts";
import { type CostEstimate, needOf } from "./check-budgets.ts";
import type { LimitName } from "./limits.ts";
import { type SharedNeed, ShareRefusal } from "./share-refusal.ts";

interface TokensAndCost extends CostEstimate {
  estimatedTokens: number;
}

/**
 * Adds to a refusal for lack of a share everything that the call needs at every level, for its entry or its admission.
 */
export function withNeeds(refusal: unknown, bounds: readonly Bound[], call?: TokensAndCost): unknown {
  if (refusal instanceof ShareRefusal) {
    refusal.needs = bounds.flatMap((bound) => (call === undefined ? entryNeeds(bound) : callNeeds(bound, call)));
  }
  return refusal;
}

function entryNeeds(bound: Bound): SharedNeed[] {
  return [...rateNeed(bound, "concurrent", 1), ...rateNeed(bound, "requestsPerMinute", 1)];
}

function callNeeds(bound: Bound, call: TokensAndCost): SharedNeed[] {
  const { share } = bound.account;
  const money = share === undefined ? [] : bound.budgets.map(({ limit }) => needOf(share, limit, call));
  return [...money, ...rateNeed(bound, "tokensPerMinute", call.estimatedTokens)];
}

function rateNeed(
  bound: Bound,
  limit: LimitName & ("concurrent" | "requestsPerMinute" | "tokensPerMinute"),
  needed: number,
): SharedNeed[] {
  const { share } = bound.account;
  return share === undefined || bound[limit] === undefined ? [] : [{ share, limit, needed }];
}
