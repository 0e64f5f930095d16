import type { Account } from "./account.ts";
import { type Budget, budgetsOf } from "./budget.ts";
import type { Level } from "./level.ts";
import type { BudgetWindow } from "./spend-meter.ts";

/**
 * A level of a key, its limits if any, and the account that counts the key's calls there. Made once for each key,
 * because every call checks it.
 */
export interface Bound {
  readonly level: Level;
  readonly account: Account;
  readonly limitsRates: boolean;
  readonly concurrent: number | undefined;
  readonly sessions: number | undefined;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  readonly requestsPerDay: number | undefined;
  readonly tokensPerDay: number | undefined;
  /** Whether the three budgets below are all that it has. */
  readonly isPlain: boolean;
  /**
   * Budgets in nano-dollars, Infinity if there is none: nearly every call fits all of them, and one comparison shows
   * it.
   */
  readonly dayNanoUsd: number;
  readonly monthNanoUsd: number;
  readonly totalNanoUsd: number;
  readonly budgets: readonly Budget[];
  /** Its rates, formatted for the headers of every response. */
  readonly rateTexts: { readonly requestsPerMinute: string; readonly tokensPerMinute: string };
}

const PLAIN: readonly string[] = ["day", "month", "total"];

export function boundOf(account: Account, limiting: Level | undefined): Bound {
  const level = limiting ?? { level: account.level, id: account.id, name: account.id, limits: {} };
  const { concurrent, sessions, requestsPerMinute, tokensPerMinute, requestsPerDay, tokensPerDay } = level.limits;
  const budgets = budgetsOf(level.limits);
  const nanoUsd = (window: BudgetWindow) =>
    budgets.find((budget) => budget.measure === window)?.amount ?? Number.POSITIVE_INFINITY;
  return {
    level,
    account,
    limitsRates: requestsPerMinute !== undefined || tokensPerMinute !== undefined,
    concurrent,
    sessions,
    requestsPerMinute,
    tokensPerMinute,
    requestsPerDay,
    tokensPerDay,
    isPlain: budgets.every(({ measure }) => PLAIN.includes(measure)),
    dayNanoUsd: nanoUsd("day"),
    monthNanoUsd: nanoUsd("month"),
    totalNanoUsd: nanoUsd("total"),
    budgets,
    rateTexts: { requestsPerMinute: String(requestsPerMinute), tokensPerMinute: String(tokensPerMinute) },
  };
}
