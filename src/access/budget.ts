import type { LimitName, Limits } from "./limits.ts";
import { BUDGET_WINDOWS, type BudgetWindow } from "./spend-meter.ts";

const LIMITS = {
  day: "budgetUsdPerDay",
  month: "budgetUsdPerMonth",
  total: "budgetUsdTotal",
} as const satisfies Readonly<Record<BudgetWindow, LimitName>>;

const NANO_PER_USD = 1e9;

/** A budget in whole nano-dollars. */
export const nanoOf = (budgetUsd: number): number => Math.round(budgetUsd * NANO_PER_USD);

/** One of a level's budgets. */
export interface Budget {
  readonly window: BudgetWindow;
  readonly limit: (typeof LIMITS)[BudgetWindow];
  readonly nanoUsd: number;
}

export const budgetsOf = (limits: Limits): readonly Budget[] =>
  BUDGET_WINDOWS.flatMap((window) => {
    const limit = LIMITS[window];
    const budgetUsd = limits[limit];
    return budgetUsd === undefined ? [] : [{ window, limit, nanoUsd: nanoOf(budgetUsd) }];
  });
