/** The limits of keys and projects, as the Admin API spells them. */
export const LIMITS = {
  budget_usd_per_day: { name: "Budget a day, USD", step: "0.01" },
  budget_usd_per_month: { name: "Budget a month, USD", step: "0.01" },
  budget_usd_total: { name: "Budget in all, USD", step: "0.01" },
  requests_per_minute: { name: "Requests a minute", step: "1" },
  tokens_per_minute: { name: "Tokens a minute", step: "1" },
  concurrent: { name: "Calls at once", step: "1" },
} as const;

export type LimitName = keyof typeof LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[];

interface Spent {
  day: number;
  month: number;
  total: number;
}

export interface Budget {
  name: "day" | "month" | "total";
  spent: number;
  /** In nano-dollars; undefined where there is none. */
  limit: number | undefined;
}

const NANO = 1_000_000_000;

/** What was spent of each budget. A period without one is there, too, so that rows can be compared. */
export function budgetsOf(spent: Spent | undefined, limits: Readonly<Record<string, number>>): Budget[] {
  const limitOf = (name: string): number | undefined =>
    limits[name] === undefined ? undefined : Math.round(limits[name] * NANO);
  return [
    { name: "day", spent: spent?.day ?? 0, limit: limitOf("budget_usd_per_day") },
    { name: "month", spent: spent?.month ?? 0, limit: limitOf("budget_usd_per_month") },
    { name: "total", spent: spent?.total ?? 0, limit: limitOf("budget_usd_total") },
  ];
}

/** The limits of a form: what is empty is absent, or `null` where it was set before. */
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

/** `600 requests/min, 8 at once`: limits that are no budgets. */
export function rateWords(limits: Readonly<Record<string, number>>): string {
  const parts = [
    limits["requests_per_minute"] === undefined
      ? ""
      : `${limits["requests_per_minute"].toLocaleString("en-US")} requests/min`,
    limits["tokens_per_minute"] === undefined
      ? ""
      : `${limits["tokens_per_minute"].toLocaleString("en-US")} tokens/min`,
    limits["concurrent"] === undefined ? "" : `${limits["concurrent"]} at once`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
