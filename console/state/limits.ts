import { short } from "../format/numbers.ts";

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

/** Reads the limits of a form. An empty field is absent, or `null` if the limit was set before. */
export function readLimits(
  form: FormData,
  before: Readonly<Record<string, number | null>> = {},
  prefix = "",
): Record<string, number | null> {
  const limits: Record<string, number | null> = {};
  for (const name of LIMIT_NAMES) {
    const written = String(form.get(prefix + name) ?? "").trim();
    if (written !== "") limits[name] = Number(written);
    else if (before[name] !== undefined) limits[name] = null;
  }
  return limits;
}

/** `openai/gpt-*: requests_per_day=100 budget_usd_per_week=5`, one line for each pattern. */
export const patternLines = (patterns: Readonly<Record<string, Readonly<Record<string, number>>>>): string =>
  Object.entries(patterns)
    .map(
      ([pattern, limits]) =>
        `${pattern}: ${Object.entries(limits)
          .map(([name, value]) => `${name}=${value}`)
          .join(" ")}`,
    )
    .join("\n");

/** The same lines, and `null` for patterns and limits that are not there any more. Throws on a line that says something else. */
export function readPatterns(
  text: string,
  before: Readonly<Record<string, Readonly<Record<string, number>>>> = {},
): Record<string, Record<string, number | null> | null> {
  const patterns: Record<string, Record<string, number | null> | null> = {};
  for (const pattern of Object.keys(before)) patterns[pattern] = null;
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const { pattern, rest } = /^\s*(?<pattern>\S+):\s+(?<rest>.+)$/.exec(line)?.groups ?? {};
    if (pattern === undefined || rest === undefined) throw new Error(`"${line}" needs the form: pattern: name=number`);
    const limits: Record<string, number | null> = {};
    for (const name of Object.keys(before[pattern] ?? {})) limits[name] = null;
    for (const word of rest.trim().split(/[\s,]+/)) {
      const [name = "", value = ""] = word.split("=");
      if (name === "" || value === "" || Number.isNaN(Number(value)))
        throw new Error(`"${word}" needs the form: name=number`);
      limits[name] = Number(value);
    }
    patterns[pattern] = limits;
  }
  return patterns;
}

/** The limits without a column of their own, `600 requests/min, 8 concurrent`. */
export function rateWords(limits: Readonly<Record<string, number>>): string {
  const rate = (name: string, words: string): string =>
    limits[name] === undefined ? "" : `${limits[name].toLocaleString("en-US")} ${words}`;
  const parts = [
    rate("requests_per_minute", "requests/min"),
    rate("tokens_per_minute", "tokens/min"),
    rate("requests_per_day", "requests/day"),
    rate("tokens_per_day", "tokens/day"),
    rate("budget_usd_per_week", "USD/week"),
    rate("budget_usd_per_quarter", "USD/quarter"),
    limits["concurrent"] === undefined ? "" : `${limits["concurrent"]} concurrent`,
    limits["sessions"] === undefined ? "" : `${limits["sessions"]} sessions`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const BRIEF: readonly (readonly [LimitName, string])[] = [
  ["requests_per_minute", "/min"],
  ["tokens_per_minute", " tok/min"],
  ["requests_per_day", "/day"],
  ["tokens_per_day", " tok/day"],
  ["concurrent", " at once"],
  ["sessions", " live"],
];

/** The same for a narrow column, without money: `600/min, 8 at once`. */
export const briefRates = (limits: Readonly<Record<string, number>>): string =>
  BRIEF.flatMap(([name, unit]) => (limits[name] === undefined ? [] : [`${short(limits[name])}${unit}`])).join(", ");
