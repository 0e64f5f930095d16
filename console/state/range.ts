import { readZone, startOfDay, wallClock, zoned } from "./zone.ts";

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time ranges that end now. */
const RANGES = {
  "15m": { name: "15 minutes", ms: 15 * MINUTE_MS },
  "1h": { name: "1 hour", ms: HOUR_MS },
  "24h": { name: "24 hours", ms: DAY_MS },
  "7d": { name: "7 days", ms: 7 * DAY_MS },
  "30d": { name: "30 days", ms: 30 * DAY_MS },
} as const;

export type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];

/** Ranges by the calendar of the page's zone. */
const CALENDAR = { yesterday: "yesterday", month: "this month" } as const;

export type CalendarName = keyof typeof CALENDAR;

/** What a button of a range says. */
export const rangeWords = (name: RangeName | CalendarName): string =>
  name in RANGES ? name : CALENDAR[name as CalendarName];

export interface Range {
  /** `undefined` for a custom range and for those of the calendar. */
  name: RangeName | undefined;
  calendar?: CalendarName;
  fromMs: number;
  /** `undefined` for now. */
  toMs: number | undefined;
}

function spanOf(calendar: CalendarName, nowMs: number, zone: string): Pick<Range, "fromMs" | "toMs"> {
  const today = startOfDay(nowMs, zone);
  if (calendar === "yesterday") return { fromMs: startOfDay(today - 12 * HOUR_MS, zone), toMs: today };
  const first = `${wallClock(nowMs, zone).slice(0, 7)}-01T00:00:00`;
  return { fromMs: zoned(first, zone) ?? today, toMs: undefined };
}

/** Reads the range from the address: `range=24h`, `range=month`, or `from=` and `to=` as timestamps. */
export function readRange(query: URLSearchParams, nowMs: number, usual: RangeName = "24h"): Range {
  const from = Date.parse(query.get("from") ?? "");
  const to = Date.parse(query.get("to") ?? "");
  if (!Number.isNaN(from)) return { name: undefined, fromMs: from, toMs: Number.isNaN(to) ? undefined : to };
  const asked = query.get("range");
  if (asked === "yesterday" || asked === "month")
    return { name: undefined, calendar: asked, ...spanOf(asked, nowMs, readZone(query)) };
  const name = RANGE_NAMES.find((known) => known === asked) ?? usual;
  return { name, fromMs: nowMs - RANGES[name].ms, toMs: undefined };
}

/** The range as parameters of the Admin API. */
export const rangeQuery = ({ fromMs, toMs }: Range): { from: string; to?: string } => ({
  from: new Date(fromMs).toISOString(),
  ...(toMs === undefined ? {} : { to: new Date(toMs).toISOString() }),
});

/** The period of equal length before. */
export function periodBefore({ fromMs, toMs }: Range, nowMs: number): Range {
  const length = Math.max(1, (toMs ?? nowMs) - fromMs);
  return { name: undefined, fromMs: fromMs - length, toMs: fromMs };
}
