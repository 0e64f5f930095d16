/** The limits of keys and projects, by their names in the Admin API. */
export const LIMITS = {
  budget_usd_per_day: { name: "Daily budget (USD)", step: "0.01" },
  budget_usd_per_week: { name: "Weekly budget (USD)", step: "0.01" },
  budget_usd_per_month: { name: "Monthly budget (USD)", step: "0.01" },
  budget_usd_per_quarter: { name: "Quarterly budget (USD)", step: "0.01" },
  budget_usd_total: { name: "Total budget (USD)", step: "0.01" },
  requests_per_minute: { name: "Requests per minute", step: "1" },
  tokens_per_minute: { name: "Tokens per minute", step: "1" },
  requests_per_day: { name: "Requests per day", step: "1" },
  tokens_per_day: { name: "Tokens per day", step: "1" },
  concurrent: { name: "Concurrent calls", step: "1" },
  sessions: { name: "Open live sessions", step: "1" },
} as const;

export type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[];

interface Spent {
  day: number;
  week: number;
  month: number;
  quarter: number;
  total: number;
}

export interface Budget {
  name: keyof Spent;
  spent: number;
  /** In nano-dollars; undefined if there is no limit. */
  limit: number | undefined;
}

const NANO = 1_000_000_000;

/** The spend of each period; of days, months and in total also without a budget, so that rows line up. */
export function budgetsOf(spent: Spent | undefined, limits: Readonly<Record<string, number>>): Budget[] {
  const limitOf = (name: string): number | undefined =>
    limits[name] === undefined ? undefined : Math.round(limits[name] * NANO);
  const ifLimited = (name: "week" | "quarter"): Budget[] => {
    const limit = limitOf(`budget_usd_per_${name}`);
    return limit === undefined ? [] : [{ name, spent: spent?.[name] ?? 0, limit }];
  };
  return [
    { name: "day", spent: spent?.day ?? 0, limit: limitOf("budget_usd_per_day") },
    ...ifLimited("week"),
    { name: "month", spent: spent?.month ?? 0, limit: limitOf("budget_usd_per_month") },
    ...ifLimited("quarter"),
    { name: "total", spent: spent?.total ?? 0, limit: limitOf("budget_usd_total") },
  ];
}

/** Reads the limits of a form. An empty field is absent, or `null` if the limit was set before. */
export function readLimits(
  form: FormData,
  before: Readonly<Record<string, number>> = {},
): Record<string, number | null> {
  const limits: Record<string, number | null> = {};
  for (const name of LIMIT_NAMES) {
    const written = String(form.get(name) ?? "").trim();
    if (written !== "") limits[name] = Number(written);
    else if (before[name] !== undefined) limits[name] = null;
  }
  return limits;
}

/** The limits that are not budgets: `600 requests/min, 8 concurrent`. */
export function rateWords(limits: Readonly<Record<string, number>>): string {
  const rate = (name: string, words: string): string =>
    limits[name] === undefined ? "" : `${limits[name].toLocaleString("en-US")} ${words}`;
  const parts = [
    rate("requests_per_minute", "requests/min"),
    rate("tokens_per_minute", "tokens/min"),
    rate("requests_per_day", "requests/day"),
    rate("tokens_per_day", "tokens/day"),
    limits["concurrent"] === undefined ? "" : `${limits["concurrent"]} concurrent`,
    limits["sessions"] === undefined ? "" : `${limits["sessions"]} sessions`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
