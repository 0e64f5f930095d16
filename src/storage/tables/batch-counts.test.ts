import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { claimLines, countLines, countWaitingLines, endLine, insertLines, NO_LINES } from "./batch-lines.ts";
import { insertBatch, selectFailedBatches, selectOpenBatches } from "./batches.ts";
import { insertObject } from "./objects.ts";

const NOW = 1_700_000_000_000;

/** Tests that every engine must pass. */
function countsContract(databases: TestDatabases): void {
  describe(`decision 0112: counts of batches on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    const insert = async (id: string, state: string, createdAtMs = NOW) => {
      const owned = { id, kind: "batch", project: "red", keyId: "key_1", share: "project" } as const;
      await insertObject(storage, { ...owned, state, size: 0, metadata: { window: "24h" }, createdAtMs });
      await insertBatch(storage, { id, form: "chat", endpoint: "/v1/chat/completions", deadlineAtMs: NOW + 1_000 });
    };

    test("lines are counted by state, with their cost and what waits", async () => {
      await insert("a", "in_progress", NOW - 5_000);
      await insert("b", "in_progress");
      const line = (number: number) => ({ line: number, customId: `c${number}`, start: 0, size: 1, heldNanoUsd: 100 });
      await insertLines(storage, "a", [1, 2, 3, 4, 5].map(line));
      const lease = { owner: "one", untilMs: NOW + 1_000 };
      const claim = { limit: 3, maxRunning: 3, batches: await selectOpenBatches(storage), lastProject: "", nowMs: NOW };
      const claimed = await storage.transaction((queries) => claimLines(queries, storage.engine, lease, claim));
      expect(claimed).toHaveLength(3);
      for (const [at, status] of [200, 404].entries()) {
        const running = claimed[at];
        if (running !== undefined) await endLine(storage, running, { status, result: "{}", receipts: [] });
      }
      const counts = await countLines(storage, ["a", "b"]);
      expect(counts.get("a")).toEqual({
        ...NO_LINES,
        total: 5,
        open: 3,
        running: 1,
        succeeded: 1,
        failed: 1,
        heldNanoUsd: 200,
      });
      expect(counts.get("b")).toEqual(NO_LINES);
      expect(await countWaitingLines(storage)).toEqual({ count: 2, sinceMs: NOW - 5_000 });
    });

    test("without waiting lines there is no age", async () => {
      await insert("a", "completed");
      expect(await countWaitingLines(storage)).toEqual({ count: 0, sinceMs: undefined });
    });

    test("batches that failed or expired since then are found, the newest first", async () => {
      await insert("a", "failed", NOW - 10);
      await insert("b", "expired", NOW - 5);
      await insert("c", "completed");
      await insert("d", "failed", NOW - 100);
      const found = await selectFailedBatches(storage, { sinceMs: NOW - 50, limit: 10 });
      expect(found.map(({ id, state }) => [id, state])).toEqual([
        ["b", "expired"],
        ["a", "failed"],
      ]);
      expect(found[0]).toMatchObject({ project: "red", keyId: "key_1", endpoint: "/v1/chat/completions" });
      expect(found[0]?.metadata).toEqual({ window: "24h" });
    });
  });
}

for (const databases of testDatabases("counts of batches")) countsContract(databases);
