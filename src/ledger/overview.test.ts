import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { overviewOf } from "./overview.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 2, 20, 12, 30);

function overviewContract(databases: TestDatabases): void {
  describe(`overview on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("the ten most expensive of each dimension, by all of its calls in the window", async () => {
      const receipts = Array.from({ length: 240 }, (_, index) => {
        const createdAtMs = NOW_MS - (index % 48) * (HOUR_MS / 2);
        return sampleReceipt({
          id: `rcp_${timePrefix(createdAtMs)}${index}`,
          createdAtMs,
          model: `acme/m${index % 12}`,
          provider: index % 3 === 0 ? "one" : "other",
          key: `key_${index % 5}`,
          outcome: index % 4 === 0 ? "upstream_failed" : "ok",
          costNanoUsd: 1_000 * (index % 12),
        });
      });
      await insertReceipts(storage, receipts);
      await rollUpBefore(storage, NOW_MS - 3 * HOUR_MS);
      const { top } = await overviewOf(storage, "7d", NOW_MS);
      // The two cheapest of twelve models are missing.
      expect(top.models).toEqual(
        Array.from({ length: 10 }, (_, rank) => ({
          name: `acme/m${11 - rank}`,
          calls: 20,
          failures: (11 - rank) % 4 === 0 ? 20 : 0,
          costNanoUsd: 20_000 * (11 - rank),
        })),
      );
      expect(top.providers.map(({ name, calls }) => [name, calls])).toEqual([
        ["other", 160],
        ["one", 80],
      ]);
      expect(top.keys.map(({ name }) => name).sort()).toEqual(["key_0", "key_1", "key_2", "key_3", "key_4"]);
      expect(top.keys.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(1_320_000);
    });
  });
}

for (const databases of testDatabases("the overview")) overviewContract(databases);
