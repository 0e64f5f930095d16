import { expect, test } from "bun:test";
import { TimeZone } from "../base/time-zone.ts";
import { movedSpans } from "./moved-spans.ts";

const HOUR_MS = 3_600_000;
const hourOf = (moment: string): number => Date.parse(moment) / HOUR_MS;
const dayOf = (date: string): number => Date.parse(date) / (24 * HOUR_MS);

function movedIn(zone: string, from: string, until: string, keptSince = "1970-01-01T00:00Z") {
  const [first, end] = [hourOf(from), hourOf(until)];
  const offsets = TimeZone.named(zone).offsets(first * HOUR_MS, end * HOUR_MS);
  return movedSpans(offsets, first, end, (hour) => hour >= hourOf(keptSince));
}

test("east of Greenwich the evening belongs to the next day, and half hours are read from receipts", () => {
  const days = { utcDay: dayOf("2026-03-01"), zoneDay: dayOf("2026-03-02") };
  expect(movedIn("Asia/Kolkata", "2026-03-01T00:00Z", "2026-03-02T12:00Z")).toEqual({
    hours: [{ span: [hourOf("2026-03-01T19:00Z"), hourOf("2026-03-02T00:00Z")], ...days }],
    receipts: [{ span: [Date.parse("2026-03-01T18:30Z"), Date.parse("2026-03-01T19:00Z")], ...days }],
  });
});

test("an hour whose receipts are deleted belongs to the day in which it begins", () => {
  const kept = "2026-03-03T00:00Z";
  const east = movedIn("Asia/Kolkata", "2026-03-01T00:00Z", "2026-03-02T12:00Z", kept);
  expect(east.receipts).toEqual([]);
  expect(east.hours.map(({ span }) => span)).toEqual([[hourOf("2026-03-01T19:00Z"), hourOf("2026-03-02T00:00Z")]]);
  const west = movedIn("America/St_Johns", "2026-01-02T00:00Z", "2026-01-02T12:00Z", kept);
  expect(west.receipts).toEqual([]);
  expect(west.hours.map(({ span }) => span)).toEqual([
    [hourOf("2026-01-02T00:00Z"), hourOf("2026-01-02T03:00Z")],
    [hourOf("2026-01-02T03:00Z"), hourOf("2026-01-02T04:00Z")],
  ]);
});

test("west of Greenwich the morning belongs to the previous day, one hour more after clocks go back", () => {
  expect(movedIn("America/New_York", "2026-11-01T00:00Z", "2026-11-02T12:00Z")).toEqual({
    hours: [
      {
        span: [hourOf("2026-11-01T00:00Z"), hourOf("2026-11-01T04:00Z")],
        utcDay: dayOf("2026-11-01"),
        zoneDay: dayOf("2026-10-31"),
      },
      {
        span: [hourOf("2026-11-02T00:00Z"), hourOf("2026-11-02T05:00Z")],
        utcDay: dayOf("2026-11-02"),
        zoneDay: dayOf("2026-11-01"),
      },
    ],
    receipts: [],
  });
});
