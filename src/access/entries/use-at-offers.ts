import { type CostEstimate, reservedFor } from "../check-budgets.ts";

export interface TokensAndCost extends CostEstimate {
  estimatedTokens: number;
}

/** What a call may use at one offer. */
export interface OfferUse extends TokensAndCost {
  readonly model: string;
  /** Absent: any. */
  readonly provider?: string;
}

/** What is enough for any of them; there is at least one. */
export const mostOf = (uses: readonly TokensAndCost[]): TokensAndCost =>
  uses.reduce((one, other) => ({
    estimatedCostNanoUsd: Math.max(one.estimatedCostNanoUsd, other.estimatedCostNanoUsd),
    maxCostNanoUsd: Math.max(reservedFor(one), reservedFor(other)),
    estimatedTokens: Math.max(one.estimatedTokens, other.estimatedTokens),
    leastTokens: Math.max(leastOf(one), leastOf(other)),
  }));

/** What is enough for all of them together. */
export const sumOf = (uses: readonly TokensAndCost[]): TokensAndCost =>
  uses.reduce((one, other) => ({
    estimatedCostNanoUsd: reservedFor(one) + reservedFor(other),
    estimatedTokens: one.estimatedTokens + other.estimatedTokens,
    leastTokens: leastOf(one) + leastOf(other),
  }));

const leastOf = ({ estimatedTokens, leastTokens = estimatedTokens }: TokensAndCost): number => leastTokens;
