import { budgetsOf, isMoney } from "../../../access/budget.ts";
import { forecastBudget } from "../../../access/budget-forecast.ts";
import { readLimits } from "../../../access/limits.ts";
import type { SpentMoney } from "../../../ledger/queries.ts";

/** How much of each of its budgets a key has used, and will have by the end of the window. */
export function keyBudgets(limits: Readonly<Record<string, number>>, spent: SpentMoney, nowMs: number) {
  return budgetsOf(readLimits(limits)).flatMap(({ measure, amount }) => {
    if (!isMoney(measure)) return [];
    const spentNanoUsd = spent[measure];
    const { endsAtMs, nanoUsd, exceedsAtMs } = forecastBudget(measure, { spentNanoUsd, limitNanoUsd: amount }, nowMs);
    return [
      {
        window: measure,
        limit_nano_usd: amount,
        spent_nano_usd: spentNanoUsd,
        used_percent: amount > 0 ? Math.floor((spentNanoUsd / amount) * 100) : 100,
        forecast_nano_usd: nanoUsd ?? null,
        exceeds_at: momentOf(exceedsAtMs),
        ends_at: momentOf(endsAtMs),
      },
    ];
  });
}

const momentOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
