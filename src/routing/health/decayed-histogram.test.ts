import { expect, test } from "bun:test";
import { DecayedHistogram } from "./decayed-histogram.ts";
import { HALF_LIFE_MS } from "./decayed-ratio.ts";

const START_MS = 1_700_000_000_000;
/** No bucket is wider. */
const WIDTH = 2 ** (1 / 4);

function filled(durations: readonly number[], atMs = START_MS): DecayedHistogram {
  const histogram = new DecayedHistogram();
  for (const ms of durations) histogram.add(ms, atMs);
  return histogram;
}

test("too few samples have no tail", () => {
  expect(new DecayedHistogram().quantileAt(0.95, START_MS)).toBeUndefined();
  const histogram = filled(Array.from({ length: 19 }, () => 100));
  expect(histogram.quantileAt(0.95, START_MS)).toBeUndefined();
  histogram.add(100, START_MS);
  expect(histogram.quantileAt(0.95, START_MS)).toBeDefined();
});

test("a quantile is within a bucket of the exact one", () => {
  const durations = Array.from({ length: 1000 }, (_, at) => 10 + ((at * 7919) % 1000) * 3);
  const sorted = durations.toSorted((a, b) => a - b);
  const histogram = filled(durations);
  for (const share of [0.1, 0.5, 0.9, 0.95, 0.99]) {
    const exact = sorted[Math.ceil(share * 1000) - 1] ?? 0;
    const found = histogram.quantileAt(share, START_MS) ?? 0;
    expect(found / exact).toBeGreaterThan(1 / WIDTH);
    expect(found / exact).toBeLessThan(WIDTH);
  }
});

test("within a bucket it is read off in proportion", () => {
  // All in the bucket from 64 up to 76.1 ms.
  const histogram = filled(Array.from({ length: 100 }, () => 70));
  expect(histogram.quantileAt(1, START_MS)).toBeCloseTo(64 * WIDTH, 6);
  expect(histogram.quantileAt(0.5, START_MS)).toBeCloseTo(64 * Math.sqrt(WIDTH), 6);
});

test("the shortest and the longest have a bucket, too", () => {
  const short = filled(Array.from({ length: 100 }, (_, at) => at / 1000));
  expect(short.quantileAt(1, START_MS)).toBeCloseTo(WIDTH, 6);
  const long = filled(Array.from({ length: 100 }, () => 1e12));
  expect(long.quantileAt(1, START_MS)).toBeCloseTo(2 ** 20, 3);
  for (let at = 0; at < 100; at++) long.add(10, START_MS);
  expect(long.quantileAt(0.75, START_MS)).toBeCloseTo(2 ** 20 / Math.sqrt(WIDTH), 3);
});

test("a measurement from a half-life ago counts half", () => {
  const histogram = filled(Array.from({ length: 100 }, () => 1000));
  for (let at = 0; at < 100; at++) histogram.add(10, START_MS + HALF_LIFE_MS);
  const nowMs = START_MS + HALF_LIFE_MS;
  // Two thirds of what counts is short now.
  expect(histogram.quantileAt(0.66, nowMs)).toBeLessThan(20);
  expect(histogram.quantileAt(0.67, nowMs)).toBeGreaterThan(500);
});

test("with nothing new its samples become too few", () => {
  const histogram = filled(Array.from({ length: 40 }, () => 100));
  expect(histogram.quantileAt(0.95, START_MS + HALF_LIFE_MS)).toBeDefined();
  expect(histogram.quantileAt(0.95, START_MS + HALF_LIFE_MS + 1000)).toBeUndefined();
});

test("it works for as long as the gateway runs", () => {
  const histogram = new DecayedHistogram();
  // After four days without a correction the weights would be more than a number can hold.
  let nowMs = START_MS;
  for (let minute = 0; minute < 10 * 24 * 60; minute++) {
    nowMs += 60_000;
    // Eight at once, since one a minute would never be enough.
    for (let each = 0; each < 8; each++) histogram.add(minute % 2 === 0 ? 100 : 120, nowMs);
  }
  expect(histogram.quantileAt(0.95, nowMs)).toBeGreaterThan(100);
  expect(histogram.quantileAt(0.95, nowMs)).toBeLessThan(140);
  // And after a silence that outlasts every weight.
  nowMs += 2000 * HALF_LIFE_MS;
  expect(histogram.quantileAt(0.95, nowMs)).toBeUndefined();
  for (let at = 0; at < 100; at++) histogram.add(3000, nowMs);
  expect(histogram.quantileAt(0.05, nowMs)).toBeGreaterThan(2000);
});
