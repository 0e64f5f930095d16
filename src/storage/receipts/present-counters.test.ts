import { expect, test } from "bun:test";
import { system } from "../../base/system.ts";
import { timePrefix } from "../../base/timed-id.ts";
import { openStorage } from "../open.ts";
import { withPresentCounters } from "./present-counters.ts";
import { sampleReceipt } from "./receipt.sample.ts";
import { insertReceipts } from "./receipts.ts";
import { COUNTERS } from "./roll-up-columns.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 10);
const sources = { days: [], hours: [[START_MS / HOUR_MS, START_MS / HOUR_MS + 200]], receipts: [] } as const;

const receiptOf = (id: number, usage: object) => {
  const createdAtMs = START_MS + id * HOUR_MS;
  return sampleReceipt({ id: `rcp_${timePrefix(createdAtMs)}${id}`, createdAtMs, usage });
};

test("a report omits counters that are never used, and runs again with all of them if one appears in the meantime", async () => {
  const storage = await openStorage("sqlite::memory:", system.clock);
  await insertReceipts(storage, [receiptOf(1, { input: 1, output: 2 })]);
  expect(await withPresentCounters(storage, { by: [], sources }, async (counters) => counters)).toEqual([
    "usage_input",
    "usage_output",
  ]);
  const asked: (readonly string[])[] = [];
  await withPresentCounters(storage, { by: [], sources }, async (counters) => {
    asked.push(counters);
    if (asked.length === 1) await insertReceipts(storage, [receiptOf(2, { images: 3 })]);
  });
  expect(asked).toEqual([["usage_input", "usage_output"], COUNTERS]);
  await storage.close();
});
