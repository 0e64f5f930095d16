import type { TimeZone } from "../base/time-zone.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { TimeSpan, UsageSources } from "../storage/receipts/usage-spans.ts";
import { movedSpans } from "./moved-spans.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const MINUTES_A_DAY = 1_440;

interface UsageSpan {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** Groups are hours, or parts of them. */
  byHour: boolean;
  /** Groups are days of a zone that is not UTC. */
  zone?: TimeZone | undefined;
  /** Receipts before this are deleted. */
  keptSinceMs: number;
}

/**
 * Where the sums of a range come from: whole days from their roll-ups, other whole hours from theirs, and receipts
 * where only part of an hour is needed. Days of a zone are those of UTC plus what moves between them, because reading
 * all of their hours would be several times the work. Of deleted receipts only their hours are known, so each such
 * hour counts as a whole where it begins.
 */
export function usageSources({ sinceMs, untilMs, byHour, zone, keptSinceMs }: UsageSpan): UsageSources {
  if (untilMs <= sinceMs) return { days: [], hours: [], receipts: [] };
  const isKept = (hour: number) => hour * HOUR_MS >= keptSinceMs;
  const receipts: TimeSpan[] = [];
  let first = Math.floor(sinceMs / HOUR_MS);
  let end = Math.floor(untilMs / HOUR_MS);
  if (first === end && isKept(first)) return { days: [], hours: [], receipts: [[sinceMs, untilMs]] };
  if (sinceMs % HOUR_MS !== 0) {
    if (isKept(first)) receipts.push([sinceMs, (first + 1) * HOUR_MS]);
    first += 1;
  }
  if (untilMs % HOUR_MS !== 0) {
    if (isKept(end)) receipts.push([end * HOUR_MS, untilMs]);
    else end += 1;
  }
  if (!byHour) {
    const moved = zone && movedSpans(zone.offsets(sinceMs, untilMs), first, end, isKept);
    return withoutAbsent({ ...wholeDays(first, end), receipts, moved });
  }
  const divided = zone === undefined ? [] : hoursWithMidnight(zone, first, end).filter(isKept);
  for (const hour of divided) receipts.push([hour * HOUR_MS, (hour + 1) * HOUR_MS]);
  return { days: [], hours: spansWithout(divided, first, end), receipts };
}

function wholeDays(first: number, end: number): Pick<UsageSources, "days" | "hours"> {
  const firstDay = Math.ceil(first / HOURS_A_DAY);
  const endDay = Math.floor(end / HOURS_A_DAY);
  if (firstDay >= endDay) return { days: [], hours: spansWithout([], first, end) };
  const before: TimeSpan = [first, firstDay * HOURS_A_DAY];
  const after: TimeSpan = [endDay * HOURS_A_DAY, end];
  return { days: [[firstDay, endDay]], hours: [before, after].filter(([from, until]) => from < until) };
}

/** Splits the span from `first` to before `end` at those hours. */
function spansWithout(hours: readonly number[], first: number, end: number): TimeSpan[] {
  const ends = [...hours, end];
  return ends
    .map((until, index): TimeSpan => [index === 0 ? first : (hours[index - 1] ?? first) + 1, until])
    .filter(([from, until]) => from < until);
}

/** The hours within which a day of the zone begins: zones whose offset is not in whole hours. */
function hoursWithMidnight(zone: TimeZone, first: number, end: number): number[] {
  const offsets = zone.offsets(first * HOUR_MS, end * HOUR_MS);
  const found: number[] = [];
  for (const [index, { sinceMs, minutes }] of offsets.entries()) {
    if (minutes % 60 === 0) continue;
    const untilMs = offsets[index + 1]?.sinceMs ?? end * HOUR_MS;
    for (let hour = Math.floor(sinceMs / HOUR_MS); hour * HOUR_MS < untilMs; hour += 1) {
      const localMinute = (((hour * 60 + minutes) % MINUTES_A_DAY) + MINUTES_A_DAY) % MINUTES_A_DAY;
      if (localMinute + HOUR_MS / MINUTE_MS > MINUTES_A_DAY && found.at(-1) !== hour) found.push(hour);
    }
  }
  return found;
}
