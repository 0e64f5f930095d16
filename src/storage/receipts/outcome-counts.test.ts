import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { selectOutcomeCounts } from "./outcome-counts.ts";
import { sampleReceipt } from "./receipt.sample.ts";
import { insertReceipts } from "./receipts.ts";

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 0, 31, 12);

let made = 0;
const receiptAt = (agoMs: number, changes: Partial<Receipt> = {}): Receipt => {
  const createdAtMs = NOW_MS - agoMs;
  return sampleReceipt({ id: `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${++made}`, createdAtMs, ...changes });
};

for (const databases of testDatabases("counts of outcomes")) {
  describe(`outcomes of calls on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("are counted by provider, for calls that ended in the range, whenever they began; corrections do not count as calls", async () => {
      const ended = receiptAt(2 * MINUTE_MS);
      await insertReceipts(storage, [
        ended,
        receiptAt(MINUTE_MS),
        receiptAt(MINUTE_MS, { provider: "slow", outcome: "upstream_timeout" }),
        receiptAt(14 * MINUTE_MS, { provider: "slow", outcome: "upstream_timeout", totalMs: 600_000 }),
        receiptAt(11 * MINUTE_MS, { provider: "before" }),
        receiptAt(MINUTE_MS, { provider: "", outcome: "overloaded" }),
        receiptAt(2 * MINUTE_MS, { adjusts: ended.id }),
      ]);
      expect(await selectOutcomeCounts(storage, { sinceMs: NOW_MS - 10 * MINUTE_MS, untilMs: NOW_MS })).toEqual([
        { provider: "", outcome: "overloaded", calls: 1 },
        { provider: "my-vllm", outcome: "ok", calls: 2 },
        { provider: "slow", outcome: "upstream_timeout", calls: 2 },
      ]);
    });
  });
}
