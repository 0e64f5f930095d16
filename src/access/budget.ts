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

/** For a call that only waits for calls in flight. */
const RETRY_AFTER_SECONDS = 2;

/** What a call may cost. */
export interface CostEstimate {
  estimatedCostNanoUsd: number;
  /** The most that it can cost, if the request sets no output limit; otherwise as estimated. */
  maxCostNanoUsd?: number | undefined;
}

/**
 * What is reserved for a call: the most that it can cost, so that concurrent calls cannot exceed a budget together, whatever
 * limits they leave out (H23). The rest of a budget may be less: then the usual cost is enough for one call that runs alone and
 * keeps all others out.
 */
export function reserveBudgets(
  principal: Principal,
  meter: SpendMeter,
  { estimatedCostNanoUsd, maxCostNanoUsd = estimatedCostNanoUsd }: CostEstimate,
  nowMs: number,
): number {
  const isAlone = meter.reserved === 0;
  const wanted = { needed: isAlone ? estimatedCostNanoUsd : maxCostNanoUsd, alone: estimatedCostNanoUsd };
  checkBudgets(principal, meter, wanted, nowMs, () =>
    maxCostNanoUsd > estimatedCostNanoUsd ? " A limit of the answer's tokens in the request makes that less." : "",
  );
  meter.reserved += maxCostNanoUsd;
  return maxCostNanoUsd;
}

/**
 * Refuses a call that might exceed one of the key's budgets, counting what calls in flight may still cost. If it could run when
 * those have ended (`alone`), it may be tried again.
 */
function checkBudgets(
  principal: Principal,
  meter: SpendMeter,
  { needed, alone }: { needed: number; alone: number },
  nowMs: number,
  advice: () => string,
): void {
  for (const window of BUDGET_WINDOWS) {
    const budgetUsd = principal.limits[BUDGETS[window].limit];
    if (budgetUsd === undefined) continue;
    const spent = meter.spent(window, nowMs);
    const used = spent + meter.reserved;
    const budget = Math.round(budgetUsd * NANO_PER_USD);
    // A call of unknown cost counts as nothing, but a budget that is used up must still refuse it.
    if (used < budget && used + needed <= budget) continue;
    const onlyNow = spent < budget && spent + alone <= budget;
    const endsMs = windowEndMs(window, nowMs);
    const renewal = endsMs === undefined ? "" : ` It starts anew at ${new Date(endsMs).toISOString()}.`;
    throw new GatewayError(
      "budget_exhausted",
      `The key "${principal.keyName}" has a budget of ${budgetUsd} USD${BUDGETS[window].words}: ${usd(spent)} are spent, ${usd(meter.reserved)} reserved by calls under way, and this call may cost ${usd(needed)}.${advice()}${onlyNow ? " Try again when some of them have ended." : renewal}`,
      onlyNow ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {},
    );
  }
}

function usd(nano: number): string {
  return String(Math.round(nano / 1e3) / 1e6);
}
