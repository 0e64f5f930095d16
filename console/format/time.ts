const two = (value: number): string => String(value).padStart(2, "0");

/** Hours, minutes and seconds in the browser's time zone. */
export function clockTime(moment: string | number): string {
  const date = new Date(moment);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export const day = (moment: string | number): string => DAY.format(new Date(moment));

/** The time, with the date unless it is today. */
export function when(moment: string | number, nowMs = Date.now()): string {
  const isToday = new Date(moment).toDateString() === new Date(nowMs).toDateString();
  return isToday ? clockTime(moment) : `${day(moment)}, ${clockTime(moment)}`;
}

/** The same without seconds, for what is expected. */
export const about = (moment: string | number, nowMs = Date.now()): string => when(moment, nowMs).replace(/:\d\d$/, "");

export const full = (moment: string | number): string =>
  `${DAY_AND_YEAR.format(new Date(moment))}, ${clockTime(moment)}`;

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
