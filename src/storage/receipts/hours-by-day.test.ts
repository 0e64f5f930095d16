import { expect, test } from "bun:test";
import { TimeZone } from "../../base/time-zone.ts";
import { hoursByDay } from "./hours-by-day.ts";

const HOUR_MS = 3_600_000;
const hourOf = (moment: string): number => Date.parse(moment) / HOUR_MS;
const dayOf = (date: string): number => Date.parse(date) / (24 * HOUR_MS);

test("hours are divided where the days of a zone begin, including a day of 25 hours", () => {
  const [from, until] = [hourOf("2026-10-31T10:00Z"), hourOf("2026-11-02T12:00Z")];
  const zone = TimeZone.named("America/New_York");
  expect(hoursByDay([[from, until]], zone.offsets(from * HOUR_MS, until * HOUR_MS))).toEqual([
    { day: dayOf("2026-10-31"), hours: [from, hourOf("2026-11-01T04:00Z")] },
    { day: dayOf("2026-11-01"), hours: [hourOf("2026-11-01T04:00Z"), hourOf("2026-11-02T05:00Z")] },
    { day: dayOf("2026-11-02"), hours: [hourOf("2026-11-02T05:00Z"), until] },
  ]);
  expect(hoursByDay([[from, from + 1]], [])).toEqual([{ day: dayOf("2026-10-31"), hours: [from, from + 1] }]);
});
