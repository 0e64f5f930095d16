import { expect, test } from "bun:test";
import type { OpenBatch } from "../storage/tables/batches.ts";
import { BatchHolds } from "./batch-holds.ts";

const batch = (id: string) => ({ id }) as OpenBatch;
const line = (number: number, heldNanoUsd: number) => ({
  batchId: "a",
  line: number,
  heldNanoUsd,
  customId: "",
  start: 0,
  size: 0,
});

test("H23: what is held for a batch shrinks when a line holds its own cost, and not before", () => {
  const held: Record<string, number> = {};
  const holds = new BatchHolds(({ id }, costNanoUsd) => {
    held[id] = costNanoUsd;
  });
  holds.set(batch("a"), 100, 0);
  expect([held["a"], holds.ageMs("a", 7), holds.ageMs("b", 7)]).toEqual([100, 7, Number.POSITIVE_INFINITY]);
  holds.claim(line(1, 30));
  holds.claim(line(2, 20));
  expect(held["a"]).toBe(100);
  holds.admit(line(1, 30));
  holds.admit(line(1, 30));
  expect(held["a"]).toBe(70);
  // A sum that was read meanwhile has neither.
  holds.set(batch("a"), 50, 1);
  expect(held["a"]).toBe(70);
  holds.putBack(line(2, 20));
  expect(held["a"]).toBe(70);
  holds.putBack(line(1, 30));
  expect(held["a"]).toBe(100);
  holds.keepOnly([batch("b")]);
  expect(held["a"]).toBe(0);
  holds.claim(line(3, 10));
  holds.admit(line(3, 10));
  expect(held["a"]).toBe(0);
});
