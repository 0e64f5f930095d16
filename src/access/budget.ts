import type { LevelName } from "./level.ts";
import type { LimitName, Limits } from "./limits.ts";
import type { BudgetWindow, Measure } from "./spend-meter.ts";

/** The limits on what the ledger counts. */
const MEASURE_OF = {
  requestsPerDay: "requests",
  tokensPerDay: "tokens",
  budgetUsdPerDay: "day",
  budgetUsdPerWeek: "week",
  budgetUsdPerMonth: "month",
  budgetUsdPerQuarter: "quarter",
  budgetUsdTotal: "total",
} as const satisfies Partial<Record<LimitName, Measure>>;

type BudgetName = keyof typeof MEASURE_OF;
const BUDGET_NAMES = Object.keys(MEASURE_OF) as BudgetName[];

/** Undefined if the limit is on something that the ledger does not count. */
export const measureOf = (limit: LimitName): Measure | undefined =>
  (MEASURE_OF as Partial<Record<LimitName, Measure>>)[limit];

export const isMoney = (measure: Measure): measure is BudgetWindow => measure !== "requests" && measure !== "tokens";

/** The window of the clock that a measure belongs to. */
export const windowOf = (measure: Measure): BudgetWindow => (isMoney(measure) ? measure : "day");

/** The window of a budget, as sentences name it. */
export const WINDOW_WORDS: Readonly<Record<BudgetWindow, string>> = {
  day: "a day",
  week: "a week",
  month: "a month",
  quarter: "a quarter",
  total: "in total",
};

const NANO_PER_USD = 1e9;

/** A budget in whole nano-dollars. */
export const nanoOf = (budgetUsd: number): number => Math.round(budgetUsd * NANO_PER_USD);

/** One of a level's limits on what the ledger counts: nano-dollars of a window, or the calls or tokens of a day. */
export interface Budget {
  readonly measure: Measure;
  readonly limit: BudgetName;
  readonly amount: number;
}

/** The amount of a limit in the unit in which it is counted. */
export function amountOf(limit: LimitName, value: number): number {
  const measure = measureOf(limit);
  return measure !== undefined && isMoney(measure) ? nanoOf(value) : value;
}

export const budgetsOf = (limits: Limits): readonly Budget[] =>
  BUDGET_NAMES.flatMap((limit) => {
    const value = limits[limit];
    return value === undefined ? [] : [{ measure: MEASURE_OF[limit], limit, amount: amountOf(limit, value) }];
  });

/** Whether one of the limits needs what the ledger knows. */
export const needsLedger = (limits: Limits): boolean => budgetsOf(limits).length > 0;

/** How much of a budget is used. */
export interface BudgetUse {
  level: LevelName;
  /** The id of the key or project; `gateway` for all of them. */
  id: string;
  name: string;
  window: BudgetWindow;
  spentNanoUsd: number;
  limitNanoUsd: number;
  /** 1 means all of it. */
  ratio: number;
}
