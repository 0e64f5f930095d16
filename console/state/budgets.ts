import type { Key } from "../api/types.ts";

const WINDOWS = ["day", "week", "month", "quarter", "total"] as const;
export type Window = (typeof WINDOWS)[number];

/** A budget and what has been spent of it, in nano-dollars. Windows are of UTC. */
export interface Budget {
  window: Window;
  spent: number;
  limit: number;
  /** 1 is all of it. A budget of zero is used up. */
  share: number;
}

const LIMIT_OF: Readonly<Record<Window, string>> = {
  day: "budget_usd_per_day",
  week: "budget_usd_per_week",
  month: "budget_usd_per_month",
  quarter: "budget_usd_per_quarter",
  total: "budget_usd_total",
};

export const WINDOW_NAMES: Readonly<Record<Window, string>> = {
  day: "today",
  week: "this week",
  month: "this month",
  quarter: "this quarter",
  total: "in total",
};

/** As in "the monthly budget". */
export const BUDGET_KINDS: Readonly<Record<Window, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
  quarter: "quarterly",
  total: "total",
};

const NANO = 1_000_000_000;
/** From this share on, a budget is about to end. */
export const NEAR = 0.8;

type Spender = Pick<Key, "limits" | "spent_nano_usd">;

/** The budget of a window; undefined if there is none. */
export function budgetOf({ limits, spent_nano_usd }: Spender, window: Window): Budget | undefined {
  const usd = limits[LIMIT_OF[window]];
  if (usd === undefined) return undefined;
  const [limit, spent] = [Math.round(usd * NANO), spent_nano_usd?.[window] ?? 0];
  return { window, limit, spent, share: limit === 0 ? 1 : spent / limit };
}

export const budgetsOf = (spender: Spender): Budget[] =>
  WINDOWS.map((window) => budgetOf(spender, window)).filter((budget) => budget !== undefined);

/** The budget with the least left. */
export const tightest = (spender: Spender): Budget | undefined =>
  budgetsOf(spender).reduce<Budget | undefined>(
    (most, budget) => (most === undefined || budget.share > most.share ? budget : most),
    undefined,
  );

/** When the current window of UTC began; undefined for a total, which has no beginning. */
export function windowStart(window: Window, nowMs: number): Date | undefined {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (window === "total") return undefined;
  if (window === "day") return new Date(Date.UTC(year, month, day));
  // Weeks begin on Monday.
  if (window === "week") return new Date(Date.UTC(year, month, day - ((now.getUTCDay() + 6) % 7)));
  return new Date(Date.UTC(year, window === "month" ? month : month - (month % 3), 1));
}
