import type { LevelName } from "./level.ts";
import { type LimitName, wireName } from "./limits.ts";
import { type BudgetWindow, windowEndMs } from "./spend-meter.ts";

/** A limit of a key, a project or the gateway, for one day or month if it has one, as all instances name it. */
export interface SharedWindow {
  level: LevelName;
  id: string;
  limit: LimitName;
  /** When the day or month begins; 0 if there is none. */
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
}

const BUDGETS: Readonly<Partial<Record<LimitName, BudgetWindow>>> = {
  budgetUsdPerDay: "day",
  budgetUsdPerMonth: "month",
  budgetUsdTotal: "total",
};

export const budgetWindowOf = (limit: LimitName): BudgetWindow | undefined => BUDGETS[limit];

/** The window that contains a moment. */
export function windowAt(
  { level, id }: { level: LevelName; id: string },
  limit: LimitName,
  wallMs: number,
): SharedWindow {
  const budget = budgetWindowOf(limit) ?? "total";
  const untilMs = windowEndMs(budget, wallMs) ?? Number.POSITIVE_INFINITY;
  return { level, id, limit, sinceMs: startOf(budget, untilMs), untilMs };
}

function startOf(budget: BudgetWindow, untilMs: number): number {
  if (budget === "total") return 0;
  const end = new Date(untilMs);
  return budget === "day" ? untilMs - 86_400_000 : Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1);
}

/** `budget_usd_per_day:1790000000000:key:key_1`. The id is last, because it may contain anything. */
export const windowName = ({ level, id, limit, sinceMs }: SharedWindow): string =>
  `${wireName(limit)}:${sinceMs}:${level}:${id}`;

/** Undefined if it is not the name of a budget. */
export function readBudgetName(name: string): SharedWindow | undefined {
  const [, wire, since, level, id] = /^(\w+):(\d+):(key|project|gateway):([\s\S]*)$/.exec(name) ?? [];
  const limit = (Object.keys(BUDGETS) as LimitName[]).find((one) => wireName(one) === wire);
  if (limit === undefined || level === undefined || id === undefined) return undefined;
  return windowAt({ level: level as LevelName, id }, limit, Number(since));
}
