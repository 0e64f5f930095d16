import type { BudgetUse } from "../../../access/budget.ts";
import { forecastBudget } from "../../../access/budget-forecast.ts";
import type { Finding } from "../schemas/attention.ts";

type BudgetFinding = Extract<Finding, { kind: "budget" }>;

/** The share from which a budget needs attention. */
const NEAR = 0.8;

/** Budgets that are nearly used up, or will be before the end of their window; the most used first. */
export function budgetFindings(uses: readonly BudgetUse[], nowMs: number): BudgetFinding[] {
  const found: BudgetFinding[] = [];
  for (const use of uses.toSorted((one, other) => other.ratio - one.ratio)) {
    const { level, id, name, window, spentNanoUsd, limitNanoUsd, ratio } = use;
    // A budget of zero is meant to refuse every call.
    if (limitNanoUsd <= 0) continue;
    const { endsAtMs, nanoUsd, exceedsAtMs } = forecastBudget(window, use, nowMs);
    if (ratio < NEAR && exceedsAtMs === undefined) continue;
    found.push({
      kind: "budget",
      severity: ratio >= 1 ? "bad" : "warn",
      since: null,
      level,
      id,
      name,
      window,
      spent_nano_usd: Math.round(spentNanoUsd),
      limit_nano_usd: limitNanoUsd,
      used_percent: Math.floor(ratio * 100),
      forecast_nano_usd: nanoUsd ?? null,
      exceeds_at: exceedsAtMs === undefined ? null : new Date(exceedsAtMs).toISOString(),
      ends_at: endsAtMs === undefined ? null : new Date(endsAtMs).toISOString(),
    });
  }
  return found;
}
