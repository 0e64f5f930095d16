import { shownZone, wallClock, zoneWord } from "../state/zone.ts";

const msOf = (moment: string | number): number => new Date(moment).getTime();

/** Hours, minutes and seconds by the clocks of the page's zone. */
export const clockTime = (moment: string | number): string => wallClock(msOf(moment), shownZone.value).slice(11);

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** The date of a moment in the page's zone. What is a day and no moment, such as `2026-11-19`, is the same day in every zone. */
const dateOf = (moment: string | number): string =>
  typeof moment === "string" && moment.length === 10 ? moment : wallClock(msOf(moment), shownZone.value).slice(0, 10);

export const day = (moment: string | number): string => DAY.format(new Date(dateOf(moment)));

export const isToday = (moment: string | number, nowMs = Date.now()): boolean => dateOf(moment) === dateOf(nowMs);

/** The time, with the date unless it is today. */
export function when(moment: string | number, nowMs = Date.now()): string {
  return isToday(moment, nowMs) ? clockTime(moment) : `${day(moment)}, ${clockTime(moment)}`;
}

/** The same without seconds, for what is expected. */
export const about = (moment: string | number, nowMs = Date.now()): string => when(moment, nowMs).replace(/:\d\d$/, "");

/** The date and the time, beside the name of the zone. */
export const dated = (moment: string | number): string =>
  `${day(moment)} ${dateOf(moment).slice(0, 4)}, ${clockTime(moment)}`;

/** The same with the zone, where a time stands alone. */
export const full = (moment: string | number): string => `${dated(moment)} ${zoneWord(msOf(moment), shownZone.value)}`;

/** Approximate relative time: `10 min ago`, or `in 10 min` for a future time. */
export function ago(moment: string | number, nowMs = Date.now()): string {
  const ms = nowMs - new Date(moment).getTime();
  const size = Math.abs(ms);
  const words =
    size < 45_000
      ? "a moment"
      : size < 90 * 60_000
        ? `${Math.max(1, Math.round(size / 60_000))} min`
        : size < 36 * 3_600_000
          ? `${Math.round(size / 3_600_000)} h`
          : `${Math.round(size / 86_400_000)} days`;
  return ms < 0 ? `in ${words}` : `${words} ago`;
}
