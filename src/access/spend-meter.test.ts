import { describe, expect, test } from "bun:test";
import { SpendMeter, windowEndMs } from "./spend-meter.ts";

const NOTHING = { day: 0, month: 0, total: 0 };
const DAY_MS = 86_400_000;

describe("SpendMeter", () => {
  test("H23: however many days and months pass, today's and this month's spending counts", () => {
    const startMs = Date.UTC(2026, 0, 15);
    const meter = new SpendMeter(NOTHING, startMs);
    for (let day = 0; day < 500; day += 1) {
      const nowMs = startMs + day * DAY_MS;
      const before = meter.spent("month", nowMs);
      meter.add(2, nowMs);
      meter.add(1, nowMs + DAY_MS - 1);
      expect(meter.spent("day", nowMs)).toBe(3);
      expect(meter.spent("month", nowMs)).toBe(before + 3);
      expect(meter.spent("day", nowMs + DAY_MS)).toBe(0);
    }
    expect(meter.spent("total", startMs + 500 * DAY_MS)).toBe(1_500);
  });

  test("H30: a clock that was set far away and back finds the sums of its days, if there were few", () => {
    const meter = new SpendMeter({ day: 7, month: 7, total: 7 }, 0);
    const today = 20_000 * DAY_MS;
    for (const away of [0, 1, -1, 2, -2, 3, -3]) meter.add(10 + away, today + away * DAY_MS);
    expect(meter.spent("day", 0)).toBe(7);
    // The start's day, 1970, is the farthest and the first to be dropped, and the only one.
    meter.add(1, today + 4 * DAY_MS);
    expect(meter.spent("day", 0)).toBe(0);
    meter.add(0, today);
    expect(meter.spent("day", today + 4 * DAY_MS)).toBe(1);
    for (const away of [0, 1, -1, 2, -2, 3, -3]) {
      expect(meter.spent("day", today + away * DAY_MS)).toBe(10 + away);
    }
    // Of those, the farthest from the new day.
    meter.add(1, today - 4 * DAY_MS);
    expect(meter.spent("day", today + 4 * DAY_MS)).toBe(0);
    expect(meter.spent("day", today + 3 * DAY_MS)).toBe(13);
    expect(meter.spent("day", today - 4 * DAY_MS)).toBe(1);
  });

  test("H23: the remainder is that of the tightest budget, whichever day the clock shows", () => {
    const meter = new SpendMeter({ day: 5, month: 70, total: 900 }, 0);
    for (let step = 0; step < 2_000; step += 1) {
      const nowMs = ((step * 7) % 5) * 9 * DAY_MS;
      meter.add(step % 11, nowMs);
      meter.reserved = step % 13;
      const total = step % 3 === 0 ? Number.POSITIVE_INFINITY : 20_000;
      const least = Math.min(
        400 - meter.spent("day", nowMs),
        900 - meter.spent("month", nowMs),
        total - meter.spent("total", nowMs),
      );
      const budgets = { dayNanoUsd: 400, monthNanoUsd: 900, totalNanoUsd: total };
      expect(meter.left(budgets, nowMs)).toBe(least - meter.reserved);
      expect(meter.own("month", nowMs)).toBe(meter.spent("month", nowMs) - (nowMs < 31 * DAY_MS ? 70 : 0));
    }
  });

  test("H30: the same month of another year is another month", () => {
    const meter = new SpendMeter(NOTHING, Date.UTC(2026, 0, 1));
    meter.add(5, Date.UTC(2026, 10, 30));
    meter.add(7, Date.UTC(2026, 11, 31, 23, 59));
    expect(meter.spent("month", Date.UTC(2026, 11, 1))).toBe(7);
    expect(meter.spent("month", Date.UTC(2027, 11, 1))).toBe(0);
    expect(meter.spent("month", Date.UTC(2025, 11, 1))).toBe(0);
    expect(meter.spent("month", Date.UTC(2027, 0, 1))).toBe(0);
  });

  test("H30: the ledger's sum of a day raises the known sum of that day, and never lowers it", () => {
    const nowMs = Date.UTC(2026, 4, 3);
    const meter = new SpendMeter({ day: 5, month: 50, total: 500 }, nowMs);
    meter.learn({ day: 3, month: 70 }, nowMs);
    expect(["day", "month", "total"].map((window) => meter.spent(window as "day", nowMs))).toEqual([5, 70, 500]);
  });
});

test("a budget resets at the end of the UTC day or month, a total never", () => {
  const nowMs = Date.UTC(2026, 11, 31, 13, 14, 15);
  expect(windowEndMs("day", nowMs)).toBe(Date.UTC(2027, 0, 1));
  expect(windowEndMs("month", nowMs)).toBe(Date.UTC(2027, 0, 1));
  expect(windowEndMs("day", Date.UTC(2028, 1, 3))).toBe(Date.UTC(2028, 1, 4));
  expect(windowEndMs("month", Date.UTC(2028, 1, 3))).toBe(Date.UTC(2028, 2, 1));
  expect(windowEndMs("total", nowMs)).toBeUndefined();
});
