import { expect, test } from "bun:test";
import { readReset } from "./read-reset.ts";

const WALL_MS = Date.parse("2026-01-31T12:00:00Z");

test.each([
  ["1s", 1000],
  ["6m0s", 360_000],
  ["1h2m3.5s", 3_723_500],
  ["1d1ms", 86_400_001],
  ["120ms", 120],
  ["0", 0],
  ["30", 30_000],
  ["1.5", 1500],
  ["2026-01-31T12:00:07Z", 7000],
  ["2026-01-31T12:00:07.250Z", 7250],
  ["2026-01-31T14:00:07+02:00", 7000],
  ["2026-01-31T11:59:00Z", 0],
])("a limit that is full again in %s", (text, ms) => {
  expect(readReset(text, WALL_MS)).toBe(ms);
});

test.each([
  undefined,
  "",
  "-1",
  "soon",
  "1 s",
  "1s ",
  "5x",
  "2026-01-31",
  "2026-99-31T12:00:00Z",
  "Sat, 31 Jan 2026 12:00:07 GMT",
  "1".repeat(20),
])("%p has no meaning", (text) => {
  expect(readReset(text, WALL_MS)).toBeUndefined();
});
