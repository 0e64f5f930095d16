import type { ZoneOffset } from "../../base/time-zone.ts";
import type { TimeSpan } from "./usage-spans.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Hours that begin in one day. */
export interface HoursOfDay {
  /** Days since 1970. */
  day: number;
  hours: TimeSpan;
}

/** The spans of hours, divided where a day begins: in the zone with these offsets, or in UTC without any. */
export function hoursByDay(spans: readonly TimeSpan[], offsets: readonly ZoneOffset[]): HoursOfDay[] {
  const found: HoursOfDay[] = [];
  for (const [from, until] of spans) {
    for (let hour = from; hour < until; ) {
      const day = dayOf(hour, offsets);
      const first = hour;
      while (hour < until && dayOf(hour, offsets) === day) hour += 1;
      found.push({ day, hours: [first, hour] });
    }
  }
  return found;
}

/** As the statements compute it. */
function dayOf(hour: number, offsets: readonly ZoneOffset[]): number {
  const utcMs = hour * HOUR_MS;
  const { minutes = 0 } = offsets.findLast(({ sinceMs }) => utcMs >= sinceMs) ?? offsets[0] ?? {};
  return Math.floor((utcMs + minutes * MINUTE_MS) / DAY_MS);
}
