import { expect, test } from "bun:test";
import { inFirstHours } from "./first-hours.ts";
import type { TimeSpan } from "./usage-spans.ts";

const HOUR_MS = 3_600_000;
/** From hour 1000, of which a quarter is left out, to the middle of hour 2000. */
const sources = {
  days: [],
  hours: [[1_001, 2_000]] as TimeSpan[],
  receipts: [
    [1_000.25 * HOUR_MS, 1_001 * HOUR_MS],
    [2_000 * HOUR_MS, 2_000.5 * HOUR_MS],
  ] as TimeSpan[],
};

/** The hours that were read until there were enough groups, with `ofHour` groups in each hour. */
async function readHours(limit: number, ofHour: number): Promise<{ read: number[]; found: number }> {
  const read: number[] = [];
  const found = await inFirstHours(sources, limit, async ({ hours, receipts }, most) => {
    const inReceipts = receipts.map(([fromMs]) => Math.floor(fromMs / HOUR_MS));
    const inSums = hours.flatMap(([from, until]) => Array.from({ length: until - from }, (_, index) => from + index));
    const some = [...inReceipts, ...inSums].sort((one, other) => one - other);
    read.push(...some);
    return some.flatMap((hour) => Array.from({ length: ofHour }, () => hour)).slice(0, most);
  });
  return { read, found: found.length };
}

test("hours are read in order, each once, until there are enough groups", async () => {
  const { read, found } = await readHours(1_000, 10);
  expect(found).toBe(1_000);
  expect(read).toEqual(Array.from(read, (_, index) => 1_000 + index));
  expect(read.length).toBeGreaterThanOrEqual(100);
  expect(read.length).toBeLessThan(200);
});

test("every hour is read if there are too few groups", async () => {
  for (const ofHour of [0, 1]) {
    const { read, found } = await readHours(5_000, ofHour);
    expect(read).toEqual(Array.from({ length: 1_001 }, (_, index) => 1_000 + index));
    expect(found).toBe(1_001 * ofHour);
  }
});
