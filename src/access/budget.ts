import { GatewayError } from "../canon/error.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Principal } from "./principal.ts";
import { BUDGET_WINDOWS, type BudgetWindow, type SpendMeter, windowEndMs } from "./spend-meter.ts";

const BUDGETS: Readonly<Record<BudgetWindow, { limit: keyof KeyLimits; words: string }>> = {
  day: { limit: "budgetUsdPerDay", words: " a day" },
  month: { limit: "budgetUsdPerMonth", words: " a month" },
  total: { limit: "budgetUsdTotal", words: " in total" },
};

const NANO_PER_USD = 1e9;

/** Refuses a call that might pass one of the key's budgets, counting what calls under way may still cost. */
export function checkBudgets(principal: Principal, meter: SpendMeter, estimatedNanoUsd: number, nowMs: number): void {
  for (const window of BUDGET_WINDOWS) {
    const budgetUsd = principal.limits[BUDGETS[window].limit];
    if (budgetUsd === undefined) continue;
    const spent = meter.spent(window, nowMs);
    const used = spent + meter.reserved;
    const budget = Math.round(budgetUsd * NANO_PER_USD);
    // A call of unknown cost counts as nothing, yet must not pass on a budget that is used up.
    if (used < budget && used + estimatedNanoUsd <= budget) continue;
    const endsMs = windowEndMs(window, nowMs);
    const renewal = endsMs === undefined ? "" : ` It starts anew at ${new Date(endsMs).toISOString()}.`;
    throw new GatewayError(
      "budget_exhausted",
      `The key "${principal.keyName}" has a budget of ${budgetUsd} USD${BUDGETS[window].words}: ${usd(spent)} are spent, ${usd(meter.reserved)} reserved by calls under way, and this call may cost ${usd(estimatedNanoUsd)}.${renewal}`,
    );
  }
}

function usd(nano: number): string {
  return String(Math.round(nano / 1e3) / 1e6);
}
