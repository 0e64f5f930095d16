import { type BudgetUse, WINDOW_WORDS } from "../access/budget.ts";
import { type BudgetWindow, windowEndMs, windowStartMs } from "../access/spend-meter.ts";
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

const DAY_MS = 86_400_000;
const DAYS_PER_WEEK = 7;
const MONTHS_PER_QUARTER = 3;

/** `2026-01-31`, `2026-W05` as in ISO 8601, `2026-01`, `2026-Q1` or `total`: each window has a name of its own. */
function periodOf(window: BudgetWindow, atMs: number): string {
  if (window === "total") return window;
  const startMs = windowStartMs(window, atMs);
  const start = new Date(startMs);
  if (window === "day") return start.toISOString().slice(0, 10);
  if (window === "month") return start.toISOString().slice(0, 7);
  if (window === "quarter") return `${start.getUTCFullYear()}-Q${1 + start.getUTCMonth() / MONTHS_PER_QUARTER}`;
  // A week belongs to the year of its Thursday.
  const thursdayMs = startMs + 3 * DAY_MS;
  const year = new Date(thursdayMs).getUTCFullYear();
  const week = 1 + Math.floor((thursdayMs - Date.UTC(year, 0)) / (DAYS_PER_WEEK * DAY_MS));
  return `${year}-W${String(week).padStart(2, "0")}`;
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
