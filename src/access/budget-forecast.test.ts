import { expect, test } from "bun:test";
import { forecastBudget } from "./budget-forecast.ts";

const HOUR_MS = 3_600_000;
const DAY = Date.UTC(2026, 2, 20);

test("forecasts a budget linearly in the time that has passed", () => {
  const use = { spentNanoUsd: 60, limitNanoUsd: 100 };
  expect(forecastBudget("day", use, DAY + 12 * HOUR_MS)).toEqual({
    endsAtMs: DAY + 24 * HOUR_MS,
    nanoUsd: 120,
    exceedsAtMs: DAY + 20 * HOUR_MS,
  });
  expect(forecastBudget("day", { ...use, spentNanoUsd: 50 }, DAY + 12 * HOUR_MS).exceedsAtMs).toBeUndefined();
  expect(forecastBudget("day", { ...use, spentNanoUsd: 0 }, DAY + 12 * HOUR_MS).nanoUsd).toBe(0);
});

test("forecasts nothing in the first twentieth of a window, and never for a total", () => {
  const use = { spentNanoUsd: 60, limitNanoUsd: 100 };
  expect(forecastBudget("day", use, DAY + HOUR_MS)).toEqual({
    endsAtMs: DAY + 24 * HOUR_MS,
    nanoUsd: undefined,
    exceedsAtMs: undefined,
  });
  expect(forecastBudget("total", use, DAY + HOUR_MS)).toEqual({
    endsAtMs: undefined,
    nanoUsd: undefined,
    exceedsAtMs: undefined,
  });
});

test("a month's forecast counts the days of that month", () => {
  const use = { spentNanoUsd: 14, limitNanoUsd: 100 };
  expect(forecastBudget("month", use, Date.UTC(2026, 1, 15)).nanoUsd).toBe(28);
});
