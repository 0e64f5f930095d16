import type { ZoneOffset } from "../base/time-zone.ts";
import type { MovedSpan, TimeSpan, UsageSources } from "../storage/receipts/usage-spans.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * The part of the hours from `first` to before `end` that is in another day in the zone than in UTC: whole hours, and
 * receipts where an hour is divided. Hours whose receipts are deleted belong to the day in which they begin.
 */
export function movedSpans(
  offsets: readonly ZoneOffset[],
  first: number,
  end: number,
  isKept: (hour: number) => boolean,
): NonNullable<UsageSources["moved"]> {
  const hours: MovedSpan[] = [];
  const receipts: MovedSpan[] = [];
  for (const { span, ...days } of differences(offsets, first * HOUR_MS, end * HOUR_MS)) {
    const divided = dividedHours(span);
    const [from, until] = [Math.ceil(span[0] / HOUR_MS), Math.floor(span[1] / HOUR_MS)];
    if (from < until) hours.push({ span: [from, until], ...days });
    for (const [hour, part] of divided) {
      if (isKept(hour)) receipts.push({ span: part, ...days });
      else if (part[0] === hour * HOUR_MS) hours.push({ span: [hour, hour + 1], ...days });
    }
  }
  return { hours, receipts };
}

/** The hours that the span covers only in part, with that part. */
function dividedHours([fromMs, untilMs]: TimeSpan): [hour: number, part: TimeSpan][] {
  const [first, last] = [Math.floor(fromMs / HOUR_MS), Math.floor(untilMs / HOUR_MS)];
  if (first === last) return [[first, [fromMs, untilMs]]];
  return [
    ...(fromMs % HOUR_MS === 0 ? [] : [[first, [fromMs, (first + 1) * HOUR_MS]] satisfies [number, TimeSpan]]),
    ...(untilMs % HOUR_MS === 0 ? [] : [[last, [last * HOUR_MS, untilMs]] satisfies [number, TimeSpan]]),
  ];
}

/** The ranges whose days differ, in milliseconds. */
function differences(offsets: readonly ZoneOffset[], fromMs: number, untilMs: number): MovedSpan[] {
  const found: MovedSpan[] = [];
  for (const [index, { sinceMs, minutes }] of offsets.entries()) {
    const offsetMs = minutes * MINUTE_MS;
    // The first offset also applies before it: a range may begin within an hour.
    const start = index === 0 ? fromMs : Math.max(fromMs, sinceMs);
    const end = Math.min(untilMs, offsets[index + 1]?.sinceMs ?? untilMs);
    for (let at = start; at < end; ) {
      const [utcDay, zoneDay] = [Math.floor(at / DAY_MS), Math.floor((at + offsetMs) / DAY_MS)];
      const until = Math.min((utcDay + 1) * DAY_MS, (zoneDay + 1) * DAY_MS - offsetMs, end);
      if (utcDay !== zoneDay) found.push({ span: [at, until], utcDay, zoneDay });
      at = until;
    }
  }
  return found;
}
