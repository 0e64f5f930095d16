import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { attemptsOverTime, measuredAttempts, measuredSpeeds } from "./measured.ts";

const NOW_MS = Date.UTC(2026, 2, 20, 12, 30);
const HOUR = { sinceMs: NOW_MS - 3_600_000, untilMs: NOW_MS };

const receipt = (index: number, changes: Partial<Receipt> = {}): Receipt => {
  const createdAtMs = NOW_MS - 1_000 * (index + 1);
  return sampleReceipt({ id: `rcp_${timePrefix(createdAtMs)}${index}`, createdAtMs, ...changes });
};

function measuredContract(databases: TestDatabases): void {
  describe(`measured calls on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("attempts count for the provider and credential that was tried, whichever answered", async () => {
      await insertReceipts(
        storage,
        Array.from({ length: 10 }, (_, index) => receipt(index)),
      );
      const { fromMs, of } = await measuredAttempts(storage, HOUR);
      expect(fromMs).toBe(HOUR.sinceMs);
      expect(of("other")).toEqual({
        calls: 10,
        failures: 10,
        firstContentMs: { p50: null, p95: null },
        tokensPerSecond: null,
      });
      const found = of("my-vllm", "2");
      expect(found).toMatchObject({ calls: 10, failures: 0 });
      expect(Math.abs((found?.firstContentMs.p50 ?? 0) - 40)).toBeLessThan(10);
      // 300 tokens in 20 ms.
      expect(found?.tokensPerSecond).toBe(15_000);
      expect(of("my-vllm")).toEqual(found);
      expect(of("my-vllm", "1")).toBeUndefined();
    });

    test("speeds are measured by model and provider; failures and corrections do not count", async () => {
      await insertReceipts(storage, [
        receipt(0),
        receipt(1, { outcome: "upstream_failed", firstContentMs: 9_000 }),
        receipt(2, { adjusts: "rcp_1" }),
        receipt(3, { model: "acme/other", provider: "elsewhere" }),
      ]);
      const { of } = await measuredSpeeds(storage, HOUR);
      expect(of("acme/llama", "my-vllm")).toMatchObject({ calls: 2, failures: 1 });
      expect(of("acme/llama")?.firstContentMs.p95).toBeLessThan(50);
      expect(of("acme/llama", "elsewhere")).toBeUndefined();
      expect(of("acme/other")?.calls).toBe(1);
    });

    test("a busy interval of a series is read from its newest receipts, and is marked as sampled", async () => {
      await insertReceipts(
        storage,
        Array.from({ length: 400 }, (_, index) => {
          const createdAtMs = NOW_MS - 100_000 - 10 * index;
          return receipt(index, { id: `rcp_${timePrefix(createdAtMs)}${index}`, createdAtMs });
        }),
      );
      const { parts, mostOfPart } = await attemptsOverTime(storage, "my-vllm", "1h", NOW_MS);
      const busy = parts.filter(({ measured }) => measured !== undefined);
      expect([mostOfPart, busy.map(({ isSampled, measured }) => [isSampled, measured?.calls])]).toEqual([
        167,
        [[true, 167]],
      ]);
      expect(busy[0]?.measured?.failures).toBe(0);
      expect((await attemptsOverTime(storage, "other", "24h", NOW_MS)).parts.at(-1)).toMatchObject({
        isSampled: false,
        measured: { calls: 400, failures: 400 },
      });
    });

    test("the newest ten thousand receipts are read, and the answer says from when", async () => {
      for (let from = 0; from < 10_100; from += 1_010) {
        const some = Array.from({ length: 1_010 }, (_, index) => {
          const createdAtMs = NOW_MS - 100 * (from + index + 1);
          return receipt(from + index, { id: `rcp_${timePrefix(createdAtMs)}${from + index}`, createdAtMs });
        });
        await insertReceipts(storage, some);
      }
      const { fromMs, of } = await measuredSpeeds(storage, HOUR);
      expect(of("acme/llama")?.calls).toBe(10_000);
      expect(fromMs).toBe(NOW_MS - 100 * 10_000);
    });
  });
}

for (const databases of testDatabases("measured calls")) measuredContract(databases);
