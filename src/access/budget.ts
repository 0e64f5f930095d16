import type { Level } from "./level.ts";
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

/** How much of a budget is used. */
export interface BudgetUse {
  level: Level["level"];
  /** The id of the key or project; `gateway` for all of them. */
  id: string;
  name: string;
  window: BudgetWindow;
  spentNanoUsd: number;
  limitNanoUsd: number;
  /** 1 means all of it. */
  ratio: number;
}
