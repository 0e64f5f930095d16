import { type BudgetWindow, windowEndMs, windowStartMs } from "./spend-meter.ts";

/** What a budget will have been used by the end of its window if spending continues at the same rate. */
export interface BudgetForecast {
  /** Undefined for a total, which never ends. */
  endsAtMs: number | undefined;
  /** Undefined if too little of the window has passed to say, and for a total. */
  nanoUsd: number | undefined;
  /** When the budget is used up at this rate; undefined if that is not before the end of the window. */
  exceedsAtMs: number | undefined;
}

/** Below this share of the window, one call may change the forecast by a multiple. */
const MIN_ELAPSED = 0.05;

/** Linear in the time that has passed. */
export function forecastBudget(
  window: BudgetWindow,
  { spentNanoUsd, limitNanoUsd }: { spentNanoUsd: number; limitNanoUsd: number },
  nowMs: number,
): BudgetForecast {
  const endsAtMs = windowEndMs(window, nowMs);
  const startMs = windowStartMs(window, nowMs);
  if (endsAtMs === undefined || nowMs - startMs < MIN_ELAPSED * (endsAtMs - startMs))
    return { endsAtMs, nanoUsd: undefined, exceedsAtMs: undefined };
  const nanoUsd = Math.round((spentNanoUsd * (endsAtMs - startMs)) / (nowMs - startMs));
  const isWithin = spentNanoUsd <= 0 || nanoUsd <= limitNanoUsd;
  const exceedsAtMs = isWithin ? undefined : startMs + ((nowMs - startMs) * limitNanoUsd) / spentNanoUsd;
  return { endsAtMs, nanoUsd, exceedsAtMs };
}
