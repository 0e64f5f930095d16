import { type CostEstimate, reservedFor } from "../check-budgets.ts";

export interface TokensAndCost extends CostEstimate {
  estimatedTokens: number;
}

/** What a call may use at one offer. */
export interface OfferUse extends TokensAndCost {
  readonly model: string;
  readonly provider: string;
}

/** What is enough for any of them. */
export const mostOf = (uses: readonly TokensAndCost[]): TokensAndCost =>
  joined(uses, (one, other) => Math.max(one, other));

/** What is enough for all of them together. */
export const sumOf = (uses: readonly TokensAndCost[]): TokensAndCost => joined(uses, (one, other) => one + other);

function joined(uses: readonly TokensAndCost[], join: (one: number, other: number) => number): TokensAndCost {
  const [first = NOTHING] = uses;
  return uses.length <= 1 ? first : uses.slice(1).reduce((sum, use) => joinTwo(sum, use, join), first);
}

function joinTwo(
  one: TokensAndCost,
  other: TokensAndCost,
  join: (one: number, other: number) => number,
): TokensAndCost {
  return {
    estimatedCostNanoUsd: join(one.estimatedCostNanoUsd, other.estimatedCostNanoUsd),
    maxCostNanoUsd: join(reservedFor(one), reservedFor(other)),
    estimatedTokens: join(one.estimatedTokens, other.estimatedTokens),
    leastTokens: join(leastOf(one), leastOf(other)),
    isFree: one.isFree === true && other.isFree === true,
  };
}

const leastOf = ({ estimatedTokens, leastTokens = estimatedTokens }: TokensAndCost): number => leastTokens;

const NOTHING: TokensAndCost = { estimatedCostNanoUsd: 0, estimatedTokens: 0 };
