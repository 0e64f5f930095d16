import { GatewayError } from "../canon/error.ts";
import type { Account, Share } from "./account.ts";
import type { Bound } from "./bound.ts";
import type { Budget } from "./budget.ts";
import { type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { type SharedNeed, ShareRefusal } from "./share-refusal.ts";
import { type BudgetWindow, windowEndMs } from "./spend-meter.ts";

const WORDS: Readonly<Record<BudgetWindow, string>> = { day: " a day", month: " a month", total: " in total" };

/** For a call that only waits for calls in flight. */
const RETRY_AFTER_SECONDS = 2;

/** The estimated cost of a call. */
export interface CostEstimate {
  estimatedCostNanoUsd: number;
  /** The highest possible cost if the request sets no output limit; otherwise the estimate. */
  maxCostNanoUsd?: number | undefined;
}

/**
 * The amount to reserve for a call: its highest possible cost, so that concurrent calls cannot exceed a budget
 * together, whatever limits they leave out (H23).
 */
export const reservedFor = ({ estimatedCostNanoUsd, maxCostNanoUsd = estimatedCostNanoUsd }: CostEstimate): number =>
  maxCostNanoUsd;

/**
 * Refuses a call that might exceed one of the level's budgets, counting what calls in flight may still cost. If less
 * is left than the highest possible cost, the estimated cost is enough for one call that runs alone and keeps all
 * others out.
 */
export function checkBudgets(bound: Bound, call: CostEstimate, nowMs: number): void {
  const { meter, share } = bound.account;
  if (share === undefined) {
    const left = meter.left(bound, nowMs);
    if (left > 0 && call.estimatedCostNanoUsd <= left && reservedFor(call) <= left) return;
  }
  checkEachBudget(bound, call, nowMs);
}

function checkEachBudget({ level, account, budgets }: Bound, call: CostEstimate, nowMs: number): void {
  const { meter, share } = account;
  const isAlone = meter.reserved === 0;
  const needed = isAlone ? call.estimatedCostNanoUsd : reservedFor(call);
  for (const budget of budgets) {
    const { window, limit } = budget;
    const left = budget.nanoUsd - meter.spent(window, nowMs) - meter.reserved;
    // A call of unknown cost counts as zero, but an exhausted budget must still refuse it.
    if (left <= 0 || needed > left) throw exhausted(level, account, budget, call, needed, nowMs);
    if (share === undefined) continue;
    const here = share.held(limit, nowMs) - meter.own(window, nowMs) - meter.reserved;
    if (here > 0 && reservedFor(call) <= here) continue;
    // If processes share a budget, a call may run alone when this process holds all that is left.
    if (here > 0 && needed <= here && share.holdsAll(limit)) continue;
    const lacking = needOf(share, limit, call);
    share.short(limit, lacking.needed);
    throw exhausted(level, account, budget, call, needed, nowMs, lacking);
  }
}

/** What a call needs of a budget that several processes share. */
export function needOf(share: Share, limit: LimitName, call: CostEstimate): SharedNeed {
  const needed = Math.max(1, reservedFor(call));
  const alone = Math.max(1, call.estimatedCostNanoUsd);
  return { share, limit, needed, ...(alone < needed && { alone }) };
}

function exhausted(
  level: Level,
  { meter, share }: Account,
  { window, limit, nanoUsd }: Budget,
  call: CostEstimate,
  needed: number,
  nowMs: number,
  lacking?: SharedNeed,
): GatewayError {
  const spent = meter.spent(window, nowMs);
  const left = nanoUsd - spent;
  // A call that could run once the calls in flight have ended may be retried.
  const onlyNow = left > 0 && call.estimatedCostNanoUsd <= left;
  const endsMs = windowEndMs(window, nowMs);
  const renewal = endsMs === undefined ? "" : ` It resets at ${new Date(endsMs).toISOString()}.`;
  const advice =
    reservedFor(call) > call.estimatedCostNanoUsd ? " Set an output token limit in the request to lower this." : "";
  const budget = `a budget${level.level === "gateway" ? "" : ` of ${level.limits[limit]} USD`}${WORDS[window]}`;
  // A key must not learn what all keys together have spent, and this process does not know what others have spent.
  const state =
    level.level === "gateway" || share !== undefined
      ? `has ${budget} that cannot cover this call, which may cost up to ${usd(needed)} USD.`
      : `has ${budget}: ${usd(spent)} USD spent, ${usd(meter.reserved)} USD reserved by calls in flight, and this call may cost up to ${usd(needed)} USD.`;
  const retry = share === undefined ? " Retry when calls in flight have finished." : ` ${SHARED_RETRY}${renewal}`;
  const message = `${subjectOf(level)} ${state}${advice}${onlyNow ? retry : renewal}`;
  const details = onlyNow ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {};
  if (lacking === undefined) return new GatewayError("budget_exhausted", message, details);
  return new ShareRefusal("budget_exhausted", message, details, lacking);
}

/**
 * If several processes share a budget, the one that refuses does not know how much is spent and how much is reserved.
 */
const SHARED_RETRY = "Calls in flight may free some of it when they finish.";

function usd(nano: number): string {
  return String(Math.round(nano / 1e3) / 1e6);
}
