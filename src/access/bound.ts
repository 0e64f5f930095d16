import type { Account } from "./account.ts";
import { type Budget, budgetsOf } from "./budget.ts";
import type { Level } from "./level.ts";
import type { Limits } from "./limits.ts";
import type { BudgetWindow } from "./spend-meter.ts";

/** A level that limits a key's calls, and the account that they are counted in there. Made once for each key. */
export interface Bound {
  readonly level: Level;
  /** Of the level. */
  readonly limits: Limits;
  readonly account: Account;
  readonly budgets: readonly Budget[];
  /** The same in nano-dollars, Infinity where there is none: nearly every call fits all of them, and one look shows it. */
  readonly nanoUsd: Readonly<Record<BudgetWindow, number>>;
  /** Its rates as the headers of every answer tell them. */
  readonly rateTexts: { readonly requestsPerMinute: string; readonly tokensPerMinute: string };
}

export function boundOf(level: Level, account: Account): Bound {
  const { limits } = level;
  const budgets = budgetsOf(limits);
  const nanoOf = (window: BudgetWindow) =>
    budgets.find((budget) => budget.window === window)?.nanoUsd ?? Number.POSITIVE_INFINITY;
  return {
    level,
    limits,
    account,
    budgets,
    nanoUsd: { day: nanoOf("day"), month: nanoOf("month"), total: nanoOf("total") },
    rateTexts: {
      requestsPerMinute: String(limits.requestsPerMinute),
      tokensPerMinute: String(limits.tokensPerMinute),
    },
  };
}
