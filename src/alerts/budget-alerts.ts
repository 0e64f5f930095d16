import type { BudgetUse } from "../access/budget-use.ts";
import { type BudgetWindow, windowEndMs } from "../access/spend-meter.ts";
import { type AlertDraft, dollars, quotedName } from "./alert.ts";

/** A threshold of a budget that has been passed, and those below it: they are told together, once. */
export interface PassedThreshold {
  /** Names of what is told, the highest first. They hold for all processes. */
  claims: readonly string[];
  /** When the names are needed no more; a total has no end. */
  expiresAtMs: number | undefined;
  draft: AlertDraft;
}

const WORDS: Readonly<Record<BudgetWindow, string>> = { day: " a day", month: " a month", total: " in total" };
/** A clock that was set back must find what was told in the time that it shows. */
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
  // A budget of nothing was meant to refuse every call.
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
    // A budget that was changed is another one.
    claims: passed.map((percent) => JSON.stringify(["budget", level, id, window, period, limitNanoUsd, percent])),
    expiresAtMs: endMs === undefined ? undefined : endMs + KEPT_MS,
    draft: {
      type: "budget.threshold",
      text: `${whose} has used ${used}% of its budget of $${dollars(limitNanoUsd)}${WORDS[window]}: $${dollars(spentNanoUsd)}.`,
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
