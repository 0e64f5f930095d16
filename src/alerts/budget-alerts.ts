import { type BudgetUse, WINDOW_WORDS } from "../access/budget.ts";
import { type BudgetWindow, windowEndMs } from "../access/spend-meter.ts";
import { type AlertDraft, dollars, quotedName } from "./alert.ts";

/** A threshold of a budget that has been passed, with those below it: they are reported together, once. */
export interface PassedThreshold {
  /** Unique names of the thresholds across all processes, the highest first. */
  claims: readonly string[];
  /** When the names are no longer needed; undefined for a total, which never ends. */
  expiresAtMs: number | undefined;
  draft: AlertDraft;
}

/** After a clock is set back, the alerts of that time must still be found. */
const KEPT_MS = 62 * 86_400_000;

/** `YYYY-MM-DD`, `YYYY-MM`, or `total`. */
function periodOf(window: BudgetWindow, atMs: number): string {
  if (window === "total") return window;
  return new Date(atMs).toISOString().slice(0, window === "day" ? 10 : 7);
}

export function passedThreshold(
  use: BudgetUse,
  percents: readonly number[],
  asOfMs: number,
): PassedThreshold | undefined {
  const { level, id, name, window, spentNanoUsd, limitNanoUsd } = use;
  // A budget of zero is meant to refuse every call.
  if (limitNanoUsd <= 0) return undefined;
  const spent = BigInt(Math.round(spentNanoUsd));
  const limit = BigInt(limitNanoUsd);
  const passed = percents.filter((percent) => spent * 100n >= BigInt(percent) * limit).sort((a, b) => b - a);
  const [highest] = passed;
  if (highest === undefined) return undefined;
  const period = periodOf(window, asOfMs);
  const endMs = windowEndMs(window, asOfMs);
  const used = Number((spent * 100n) / limit);
  const whose = level === "gateway" ? "The gateway as a whole" : `The ${level} ${quotedName(name)}`;
  return {
    // A budget with a new limit counts as a new budget.
    claims: passed.map((percent) => JSON.stringify(["budget", level, id, window, period, limitNanoUsd, percent])),
    expiresAtMs: endMs === undefined ? undefined : endMs + KEPT_MS,
    draft: {
      type: "budget.threshold",
      text: `${whose} has used ${used}% of its budget of $${dollars(limitNanoUsd)} ${WINDOW_WORDS[window]}: $${dollars(spentNanoUsd)}.`,
      data: {
        level,
        id,
        name,
        window,
        period,
        threshold_percent: highest,
        used_percent: used,
        spent_nano_usd: spentNanoUsd,
        limit_nano_usd: limitNanoUsd,
        spent_usd: dollars(spentNanoUsd),
        limit_usd: dollars(limitNanoUsd),
        resets_at: endMs === undefined ? null : new Date(endMs).toISOString(),
      },
    },
  };
}
