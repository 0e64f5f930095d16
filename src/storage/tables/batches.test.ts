import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import { sampleReceipt } from "../receipts/receipt.sample.ts";
import type { Storage } from "../storage.ts";
import {
  type ClaimedLine,
  claimLines,
  countLines,
  deleteLines,
  endLine,
  endWaitingLines,
  freeLines,
  insertLines,
  renewLineLeases,
  returnLine,
  sumHeld,
} from "./batch-lines.ts";
import { insertBatch, leaseBatch, releaseBatches, selectOpenBatches } from "./batches.ts";
import { FAR_MS } from "./claims.ts";
import { beat, deleteInstance } from "./instances.ts";
import { insertObject, type StoredObject } from "./objects.ts";

const NOW = 1_700_000_000_000;
const LEASE = { owner: "one", untilMs: NOW + 10_000 };

/** Tests that every engine must pass. */
function batchesContract(databases: TestDatabases): void {
  describe(`H43: batches on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    const line = (number: number, customId = `line-${number}`) => ({
      line: number,
      customId,
      start: number * 100,
      size: 100,
      heldNanoUsd: 10,
    });

    async function makeBatch(id: string, project: string, count: number): Promise<void> {
      const object: StoredObject = {
        id,
        kind: "batch",
        project,
        keyId: "key_1",
        share: "project",
        state: "in_progress",
        size: 0,
        metadata: {},
        createdAtMs: NOW,
      };
      await insertObject(storage, object);
      await insertBatch(storage, { id, form: "chat", endpoint: "/v1/chat/completions", deadlineAtMs: NOW + 60_000 });
      await insertLines(
        storage,
        id,
        Array.from({ length: count }, (_, index) => line(index + 1)),
      );
    }

    const claim = async (limit: number, more: Partial<Parameters<typeof claimLines>[3]> = {}, lease = LEASE) => {
      const batches = await selectOpenBatches(storage);
      const wanted = { limit, maxRunning: 100, batches, lastProject: "", nowMs: NOW, ...more };
      return storage.transaction((queries) => claimLines(queries, storage.engine, lease, wanted));
    };
    const names = (lines: readonly ClaimedLine[]) => lines.map(({ batchId, line }) => `${batchId}${line}`);

    test("finds the first line whose custom id was used before, in the same page or an earlier one", async () => {
      await makeBatch("a", "red", 3);
      expect(await insertLines(storage, "a", [line(4), line(5, "line-4"), line(6)])).toBe(5);
      expect(await insertLines(storage, "a", [line(7), line(8, "line-1")])).toBe(8);
      expect(await insertLines(storage, "a", [])).toBeUndefined();
    });

    test("the project with the fewest running lines comes first, and its batches in order", async () => {
      await makeBatch("a", "red", 20);
      await makeBatch("b", "red", 20);
      await makeBatch("c", "blue", 3);
      expect(names(await claim(4))).toEqual(["c1", "a1", "c2", "a2"]);
      // Both have two; the one that follows the last comes first.
      expect(names(await claim(1, { lastProject: "blue" }))).toEqual(["a3"]);
      expect(names(await claim(1, { lastProject: "red" }))).toEqual(["c3"]);
      expect(names(await claim(2))).toEqual(["a4", "a5"]);
      expect(names(await claim(100, { maxRunning: 10 }))).toEqual(["a6", "a7"]);
    });

    test("a line that was returned is not taken before its time", async () => {
      await makeBatch("a", "red", 2);
      const [first] = await claim(1);
      if (first === undefined) throw new Error("no line");
      await returnLine(storage, first, "one", NOW + 5_000);
      expect(names(await claim(2))).toEqual(["a2"]);
      expect(names(await claim(2, { nowMs: NOW + 5_000 }))).toEqual(["a1"]);
    });

    test("lines of a process that died are taken again; the first result counts, and the batch costs both", async () => {
      await makeBatch("a", "red", 2);
      const [first, second] = await claim(2);
      if (first === undefined || second === undefined) throw new Error("no lines");
      await renewLineLeases(storage, [second], { owner: "one", untilMs: NOW + 30_000 });
      await freeLines(storage, NOW + 20_000);
      const other = { owner: "two", untilMs: NOW + 30_000 };
      expect(names(await claim(2, { nowMs: NOW + 20_000 }, other))).toEqual(["a1"]);
      const result = { status: 200, result: "{}", receipts: [sampleReceipt({ costNanoUsd: 5 })] };
      const end = (one: ClaimedLine) => storage.transaction((queries) => endLine(queries, one, result));
      expect([await end(first), await end(first), await end(second)]).toEqual([true, false, true]);
      const counts = (await countLines(storage, ["a"])).get("a");
      expect(counts).toMatchObject({ total: 2, open: 0, succeeded: 2, costNanoUsd: 15 });
      expect((await selectOpenBatches(storage))[0]?.hasLines).toBe(false);
    });

    test("what an instance has claimed is free when it is not registered any more, whatever its lease says", async () => {
      await makeBatch("a", "red", 2);
      await beat(storage, { id: "instance_1", place: "here", process: "", startedAtMs: NOW, shares: "redis" });
      const farAhead = { owner: "instance_1", untilMs: NOW + 3_600_000 };
      expect(names(await claim(1, {}, farAhead))).toEqual(["a1"]);
      expect(await leaseBatch(storage, "a", farAhead, NOW)).toBe(true);
      await freeLines(storage, NOW);
      expect(names(await claim(2))).toEqual(["a2"]);
      expect((await selectOpenBatches(storage))[0]?.isAbandoned).toBe(false);
      await deleteInstance(storage, "instance_1");
      await freeLines(storage, NOW);
      expect(names(await claim(2))).toEqual(["a1"]);
      expect((await selectOpenBatches(storage))[0]?.isAbandoned).toBe(true);
      expect(await leaseBatch(storage, "a", LEASE, NOW)).toBe(true);
    });

    test("a line that was returned until a time that no process writes is taken now", async () => {
      await makeBatch("a", "red", 1);
      const [first] = await claim(1);
      if (first === undefined) throw new Error("no line");
      await returnLine(storage, first, "one", NOW + 2 * FAR_MS);
      expect(names(await claim(1))).toEqual(["a1"]);
    });

    test("one process has the lease of a batch", async () => {
      await makeBatch("a", "red", 1);
      expect(await leaseBatch(storage, "a", LEASE, NOW)).toBe(true);
      expect(await leaseBatch(storage, "a", { ...LEASE, owner: "two" }, NOW)).toBe(false);
      expect(await leaseBatch(storage, "a", { ...LEASE, owner: "two" }, NOW + 10_001)).toBe(true);
      await releaseBatches(storage, "one");
      expect((await selectOpenBatches(storage))[0]).toMatchObject({ leaseOwner: "two", hasLines: true });
      await releaseBatches(storage, "two");
      expect((await selectOpenBatches(storage))[0]?.leaseOwner).toBeUndefined();
    });

    test("lines are ended and deleted in steps", async () => {
      await makeBatch("a", "red", 5);
      await claim(1);
      expect(await sumHeld(storage, "a")).toBe(40);
      const steps = [0, 0, 0].map(() => () => endWaitingLines(storage, "a", "cancelled", 2));
      const ended: number[] = [];
      for (const step of steps) ended.push(await step());
      expect(ended).toEqual([2, 2, 0]);
      expect((await countLines(storage, ["a"])).get("a")).toMatchObject({ open: 1, cancelled: 4 });
      expect([await deleteLines(storage, "a", 3), await deleteLines(storage, "a", 3)]).toEqual([true, false]);
      expect(await sumHeld(storage, "a")).toBe(0);
    });
  });
}

for (const databases of testDatabases("the contract of batches")) batchesContract(databases);
