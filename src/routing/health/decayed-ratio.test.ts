import { expect, test } from "bun:test";
import { DecayedRatio, HALF_LIFE_MS } from "./decayed-ratio.ts";

const START_MS = 1_700_000_000_000;

test("without measurements the value is undefined", () => {
  expect(new DecayedRatio().valueAt(START_MS)).toBeUndefined();
});

test("measurements of the same moment count equally", () => {
  const average = new DecayedRatio();
  average.add(100, 1, START_MS);
  average.add(400, 1, START_MS);
  expect(average.valueAt(START_MS)).toBe(250);
  // It is what it is until something new is measured.
  expect(average.valueAt(START_MS + HALF_LIFE_MS)).toBe(250);
});

test("a measurement from a half-life ago counts half", () => {
  const average = new DecayedRatio();
  average.add(100, 1, START_MS);
  average.add(400, 1, START_MS + HALF_LIFE_MS);
  expect(average.valueAt(START_MS + HALF_LIFE_MS)).toBeCloseTo((100 / 2 + 400) / 1.5, 9);
  average.add(400, 1, START_MS + 3 * HALF_LIFE_MS);
  expect(average.valueAt(START_MS + 3 * HALF_LIFE_MS)).toBeCloseTo((100 / 8 + 400 / 4 + 400) / (1 / 8 + 1 / 4 + 1), 9);
});

test("a rate weighs long answers more than short ones", () => {
  const rate = new DecayedRatio();
  rate.add(10_000, 1000, START_MS);
  rate.add(90_000, 1000, START_MS);
  rate.add(100_000, 8000, START_MS);
  expect(rate.valueAt(START_MS)).toBe(20);
});

test("after six half-lives without anything new nothing is known any more", () => {
  const average = new DecayedRatio();
  average.add(100, 1, START_MS);
  expect(average.valueAt(START_MS + 6 * HALF_LIFE_MS)).toBe(100);
  expect(average.valueAt(START_MS + 6 * HALF_LIFE_MS + 1)).toBeUndefined();
  average.add(300, 1, START_MS + 7 * HALF_LIFE_MS);
  expect(average.valueAt(START_MS + 7 * HALF_LIFE_MS)).toBeGreaterThan(295);
});
