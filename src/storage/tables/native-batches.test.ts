import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";

import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import { sampleReceipt } from "../receipts/receipt.sample.ts";
import type { Storage } from "../storage.ts";
import { claimLines, countLines, insertLines, sumHeld } from "./batch-lines.ts";
import { insertBatch, selectOpenBatches } from "./batches.ts";
import {
  beginCreation,
  belongsToOther,
  changeNativeBatch,
  deleteNativeBatch,
  endSubmittedLine,
  insertNativeBatch,
  leaseNativeBatch,
  leaveLines,
  leaveSomeLines,
  releaseNativeBatch,
  selectNativeBatch,
  selectSubmittedLines,
  submitLines,
  wantPoll,
} from "./native-batches.ts";
import { changeObject, insertObject } from "./objects.ts";

const NOW = 1_700_000_000_000;
const ID = "AbCdEfGhIjKlMnOpQrStU1";
const NATIVE = { id: ID, target: "m p u chat", provider: "p", credential: "digest", marker: "tmark" };

const line = (number: number) => ({ line: number, customId: `c${number}`, start: 0, size: 1, heldNanoUsd: 100 });
const lease = (owner: string, untilMs = NOW + 1_000) => ({ owner, untilMs });

/** As the gateway's own queue takes lines. */
async function claim(storage: Storage) {
  const batches = await selectOpenBatches(storage);
  const terms = { limit: 8, maxRunning: 8, batches, lastProject: "", nowMs: NOW };
  return await storage.transaction((queries) => claimLines(queries, storage.engine, lease("w"), terms));
}

/** Tests that every engine must pass. */
function nativeBatchesContract(databases: TestDatabases): void {
  describe(`batches at providers on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
      await insertObject(storage, {
        id: ID,
        kind: "batch",
        project: "default",
        keyId: "key_1",
        share: "project",
        state: "in_progress",
        size: 0,
        metadata: {},
        createdAtMs: NOW,
      });
      await insertBatch(storage, {
        id: ID,
        form: "chat",
        endpoint: "/v1/chat/completions",
        deadlineAtMs: NOW + 10_000,
      });
      await insertLines(storage, ID, [line(1), line(2), line(3)]);
      await submitLines(storage, ID, [1, 2]);
      await insertNativeBatch(storage, NATIVE);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("submitted lines are not run by the gateway, keep what they hold, and keep their batch open", async () => {
      const claimed = await claim(storage);
      expect(claimed.map((one) => one.line)).toEqual([3]);
      expect(await sumHeld(storage, ID)).toBe(200);
      expect((await countLines(storage, [ID])).get(ID)).toMatchObject({ total: 3, open: 3 });
      expect(await selectOpenBatches(storage)).toMatchObject([{ id: ID, hasLines: true }]);
      expect((await selectSubmittedLines(storage, ID, 2, 10)).map((one) => one.line)).toEqual([2]);
    });

    test("one process at a time works on a batch, when it is due", async () => {
      const batch = await leaseNativeBatch(storage, lease("a"), NOW);
      expect(batch).toMatchObject({ ...NATIVE, phase: "new", form: "chat", tries: 0, headers: {}, cancelSent: false });
      expect(await leaseNativeBatch(storage, lease("b"), NOW)).toBeUndefined();
      expect(await leaseNativeBatch(storage, lease("b"), NOW + 1_001)).toMatchObject({ id: ID });
      await releaseNativeBatch(storage, ID, "b");
      await changeNativeBatch(storage, ID, { dueAtMs: NOW + 60_000 });
      expect(await leaseNativeBatch(storage, lease("a"), NOW)).toBeUndefined();
    });

    test("a batch that is cancelled or late is due at once, until the provider has been asked to cancel it", async () => {
      await changeNativeBatch(storage, ID, { phase: "running", providerId: "x", dueAtMs: NOW + 60_000 });
      expect(await leaseNativeBatch(storage, lease("a"), NOW + 9_999)).toBeUndefined();
      expect(await leaseNativeBatch(storage, lease("a", NOW), NOW + 10_000)).toMatchObject({ providerId: "x" });
      await changeObject(storage, ID, ["in_progress"], { state: "cancelling", metadata: {} });
      expect(await leaseNativeBatch(storage, lease("a", NOW), NOW + 1)).toBeDefined();
      await changeNativeBatch(storage, ID, { cancelSent: true });
      expect(await leaseNativeBatch(storage, lease("a", NOW), NOW + 10_000)).toBeUndefined();
    });

    test("H43: only the process that has the lease begins the creation, and once", async () => {
      const begun = { id: ID, headers: { "anthropic-beta": "x" }, lineCount: 2, tries: 1 };
      const times = { sentAtMs: NOW, dueAtMs: NOW + 5 };
      await leaseNativeBatch(storage, lease("a"), NOW);
      expect(await beginCreation(storage, begun, "b", times)).toBe(false);
      expect(await beginCreation(storage, begun, "a", times)).toBe(true);
      expect(await beginCreation(storage, begun, "a", times)).toBe(false);
      const { phase, headers, lineCount, tries, sentAtMs } = (await selectNativeBatch(storage, ID)) ?? {};
      expect({ phase, headers, lineCount, tries, sentAtMs }).toEqual({
        phase: "creating",
        headers: { "anthropic-beta": "x" },
        lineCount: 2,
        tries: 1,
        sentAtMs: NOW,
      });
    });

    test("a poll makes a running batch due, if it was not polled just now", async () => {
      expect(await wantPoll(storage, ID, NOW)).toBe(false);
      await changeNativeBatch(storage, ID, { phase: "running", polledAtMs: NOW, dueAtMs: NOW + 60_000 });
      expect(await wantPoll(storage, ID, NOW - 1)).toBe(false);
      expect(await wantPoll(storage, ID, NOW)).toBe(true);
      expect(await leaseNativeBatch(storage, lease("a"), NOW)).toMatchObject({ id: ID });
    });

    test("H43: a result that comes twice has one receipt", async () => {
      const receipt = sampleReceipt({ id: "rcpt_1", costNanoUsd: 50 });
      const result = { status: 200, result: "{}", receipts: [receipt] };
      expect(await endSubmittedLine(storage, ID, 1, result)).toBe(true);
      const again = { ...result, receipts: [sampleReceipt({ id: "rcpt_2", costNanoUsd: 50 })] };
      expect(await endSubmittedLine(storage, ID, 1, again)).toBe(false);
      expect((await storage.query("SELECT id FROM receipts")).length).toBe(1);
      expect((await countLines(storage, [ID])).get(ID)).toMatchObject({ succeeded: 1, costNanoUsd: 50, open: 2 });
      expect(await sumHeld(storage, ID)).toBe(200);
    });

    test("lines that the provider does not run end, or wait for the gateway", async () => {
      await leaveLines(storage, ID, "expired", [1]);
      expect(await leaveSomeLines(storage, ID, "waiting", 10)).toBeGreaterThan(0);
      const claimed = await claim(storage);
      expect(claimed.map((one) => one.line)).toEqual([2, 3]);
      expect((await countLines(storage, [ID])).get(ID)).toMatchObject({ expired: 1, open: 2 });
    });

    test("a batch of the provider belongs to one batch", async () => {
      await changeNativeBatch(storage, ID, { providerId: "x" });
      expect(await belongsToOther(storage, ID, "x")).toBe(false);
      expect(await belongsToOther(storage, "another", "x")).toBe(true);
      await deleteNativeBatch(storage, ID);
      expect(await selectNativeBatch(storage, ID)).toBeUndefined();
    });
  });
}

for (const databases of testDatabases("the contract of batches at providers")) nativeBatchesContract(databases);
