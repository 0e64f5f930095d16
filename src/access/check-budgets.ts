import { GatewayError } from "../canon/error.ts";
import type { Account, Share } from "./account.ts";
import type { Bound } from "./bound.ts";
import { type Budget, isMoney, WINDOW_WORDS, windowOf } from "./budget.ts";
import { hidesUse, type Level, subjectOf } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { type SharedNeed, ShareRefusal } from "./share-refusal.ts";
import { windowEndMs } from "./spend-meter.ts";

/** For a call that only waits for calls in flight. */
const RETRY_AFTER_SECONDS = 2;

/** The estimated cost of a call. */
export interface CostEstimate {
  /** What it may use at most; absent: nothing that is counted by the day. */
  estimatedTokens?: number;
  estimatedCostNanoUsd: number;
  /** The highest possible cost if the request sets no output limit; otherwise the estimate. */
  maxCostNanoUsd?: number | undefined;
  /** Of the estimated tokens, those that do not depend on the length of the response; absent: all of them. */
  leastTokens?: number | undefined;
  /** It uses no tokens and costs nothing, so that an exhausted limit of either does not refuse it. */
  isFree?: boolean | undefined;
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
  const { budgets, account, isPlain } = bound;
  if (budgets.length === 0) return;
  const { meter, share } = account;
  if (share === undefined && isPlain) {
    const left = meter.left(bound, nowMs);
    if (left > 0 && call.estimatedCostNanoUsd <= left && reservedFor(call) <= left) return;
  }
  checkEachBudget(bound, call, nowMs);
}

function checkEachBudget(bound: Bound, call: CostEstimate, nowMs: number): void {
  const { level, account, budgets } = bound;
  const { meter, share } = account;
  const isAlone = meter.reserved === 0;
  const needed = isAlone ? call.estimatedCostNanoUsd : reservedFor(call);
  for (const budget of budgets) {
    const { measure, limit } = budget;
    if (call.isFree && measure !== "requests") continue;
    if (!isMoney(measure)) {
      checkDay(bound, budget, call, nowMs);
      continue;
    }
    const left = budget.amount - meter.spent(measure, nowMs) - meter.reserved;
    // A call of unknown cost counts as zero, but an exhausted budget must still refuse it.
    if (left <= 0 || needed > left) throw exhausted(level, account, budget, call, needed, nowMs);
    if (share === undefined) continue;
    const here = share.held(limit, nowMs) - meter.own(measure, nowMs) - meter.reserved;
    if (here > 0 && reservedFor(call) <= here) continue;
    // If processes share a budget, a call may run alone when this process holds all that is left.
    if (here > 0 && needed <= here && share.holdsAll(limit)) continue;
    const lacking = needOf(share, limit, call);
    share.short(limit, lacking.needed);
    throw exhausted(level, account, budget, call, needed, nowMs, lacking);
  }
}

/** How many calls or tokens of a day a call takes. */
export const countFor = (bound: Bound, { measure }: Budget, call: CostEstimate): number =>
  measure === "requests" ? 1 : tokensFor(bound.tokensPerDay, call);

/**
 * The tokens to take for a call. Without an output limit in the request, the length of the response is a guess, which
 * must not block a call forever that asks for no more than the limit.
 */
export function tokensFor(limit: number | undefined, call: CostEstimate): number {
  const { estimatedTokens = 0, leastTokens = estimatedTokens } = call;
  return limit === undefined ? estimatedTokens : Math.min(estimatedTokens, Math.max(leastTokens, limit));
}

/** Refuses a call that exceeds the calls or tokens of the day. */
function checkDay(bound: Bound, budget: Budget, call: CostEstimate, nowMs: number): void {
  const { level, account } = bound;
  const { meter, share } = account;
  const { measure, limit, amount } = budget;
  const needed = countFor(bound, budget, call);
  const used = meter.spent(measure, nowMs) + meter.reservedOf(measure);
  if (used >= amount || used + needed > amount) throw dayIsOver(bound, budget, needed, used, nowMs);
  if (share === undefined) return;
  if (meter.own(measure, nowMs) + meter.reservedOf(measure) + needed <= share.held(limit, nowMs)) return;
  share.short(limit, needed);
  const message = `${subjectOf(level)} is limited to ${amount} ${measure} a day, and too little of that is left for this call. Try again in ${SHARE_RETRY_SECONDS} s.`;
  throw new ShareRefusal("rate_limited", message, { retryAfterSeconds: SHARE_RETRY_SECONDS }, { share, limit, needed });
}

/** Others may give back what they hold. */
const SHARE_RETRY_SECONDS = 1;

/** Whether the calls of the day are used up: such a request need not be read (S17). */
export function requireRequestsOfDay(bound: Bound, nowMs: number): void {
  const { requestsPerDay, account } = bound;
  if (requestsPerDay === undefined) return;
  const used = account.meter.spent("requests", nowMs);
  if (used < requestsPerDay) return;
  const budget = bound.budgets.find(({ measure }) => measure === "requests");
  if (budget !== undefined) throw dayIsOver(bound, budget, 1, used, nowMs);
}

function dayIsOver({ level, account }: Bound, budget: Budget, needed: number, used: number, nowMs: number) {
  const { measure, amount } = budget;
  const isShown = account.share === undefined && !hidesUse(level);
  const what = measure === "requests" ? "" : `, and this call may need ${needed}`;
  const state = isShown && measure === "tokens" ? `: about ${used} are used${what}` : what;
  const onlyNow = account.meter.spent(measure, nowMs) + needed <= amount;
  const endsMs = windowEndMs(windowOf(measure), nowMs) ?? nowMs;
  const retryAfterSeconds = onlyNow ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil((endsMs - nowMs) / 1000));
  const renewal = onlyNow
    ? "Retry when calls in flight have finished."
    : `It resets at ${new Date(endsMs).toISOString()}.`;
  const message = `${subjectOf(level)} has reached its limit of ${amount} ${measure} a day${state}. ${renewal}`;
  return new GatewayError("rate_limited", message, { retryAfterSeconds });
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
  { measure, limit, amount }: Budget,
  call: CostEstimate,
  needed: number,
  nowMs: number,
  lacking?: SharedNeed,
): GatewayError {
  const window = windowOf(measure);
  const spent = meter.spent(measure, nowMs);
  const left = amount - spent;
  // A call that could run once the calls in flight have ended may be retried.
  const onlyNow = left > 0 && call.estimatedCostNanoUsd <= left;
  const endsMs = windowEndMs(window, nowMs);
  const renewal = endsMs === undefined ? " It does not reset." : ` It resets at ${new Date(endsMs).toISOString()}.`;
  const advice =
    reservedFor(call) > call.estimatedCostNanoUsd ? " Set an output token limit in the request to lower this." : "";
  const budget = `a budget${hidesUse(level) ? "" : ` of ${level.limits[limit]} USD`} ${WINDOW_WORDS[window]}`;
  const cost = `this call may cost up to ${usd(needed)} USD.`;
  // A key must not learn what all keys together have spent. Of others' spending this process knows what they have reported.
  const state =
    hidesUse(level) || (share !== undefined && spent === 0)
      ? `has ${budget} that cannot cover this call, which may cost up to ${usd(needed)} USD.`
      : share !== undefined
        ? `has ${budget}: at least ${usd(spent)} USD spent, and ${cost}`
        : `has ${budget}: ${usd(spent)} USD spent, ${usd(meter.reserved)} USD reserved by calls in flight, and ${cost}`;
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
