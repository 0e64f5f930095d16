import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { Storage } from "../storage/storage.ts";
import { beat, deleteInstance } from "../storage/tables/instances.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import { exportReceipts } from "./export.ts";
import { insertRows } from "./insert-rows.ts";
import { findReceipt, spentByOwner, summariseUsage } from "./queries.ts";
import { listReceipts, receiptById } from "./receipt-pages.ts";
import { deleteOldReceipts, deleteSettled } from "./retention.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 5, 1);
const ALIVE = { id: "instance_alive", place: "here", process: "", startedAtMs: 1, shares: "" };

const rowAt = (number: number, changes: Partial<Receipt> = {}): Receipt =>
  sampleReceipt({
    id: `rcp_${timePrefix(START_MS + number)}x`,
    createdAtMs: START_MS + number,
    instance: ALIVE.id,
    ...changes,
  });
const intentAt = (number: number, changes: Partial<Receipt> = {}) => rowAt(number, { outcome: "pending", ...changes });
const numbers = (receipts: readonly Receipt[]) => receipts.map(({ createdAtMs }) => createdAtMs - START_MS);

function intentsContract(databases: TestDatabases): void {
  describe(`intents on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
      await beat(storage, ALIVE);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    const exported = async (filter = {}): Promise<number[]> => {
      let text = "";
      for await (const piece of exportReceipts(storage, filter, "jsonl")) text += piece;
      const lines = text.split("\n").filter((line) => line !== "");
      return lines.map((line) => Date.parse((JSON.parse(line) as { created_at: string }).created_at) - START_MS);
    };
    const pages = async (limit: number, filter = {}): Promise<number[][]> => {
      const found: number[][] = [];
      for (let after: string | undefined; ; ) {
        const page = await listReceipts(storage, filter, { limit, ...(after === undefined ? {} : { after }) });
        found.push(numbers(page.receipts));
        after = page.next;
        if (after === undefined) return found;
      }
    };

    test("a call that is not settled is shown as pending, without usage or cost, and no sum includes it", async () => {
      await insertRows(storage, [intentAt(1)]);
      const { id, project } = intentAt(1);
      expect(await findReceipt(storage, project, id)).toMatchObject({ outcome: "pending", usage: {}, costNanoUsd: 0 });
      expect(await findReceipt(storage, "another", id)).toBeUndefined();
      expect(await receiptById(storage, id)).toMatchObject({ model: "acme/llama", verb: "generate", stream: true });
      const range = { sinceMs: START_MS, untilMs: START_MS + DAY_MS };
      expect(await summariseUsage(storage, { by: [], ...range })).toMatchObject([{ calls: 0 }]);
      expect((await spentByOwner(storage, START_MS)).all.total).toBe(0);
      expect((await checkRollUps(storage)).differences).toEqual([]);
    });

    test("its receipt replaces it, whichever of the two is written first, and counts once", async () => {
      await insertRows(storage, [intentAt(1)]);
      await insertRows(storage, [rowAt(1), rowAt(2)]);
      await insertRows(storage, [intentAt(2), intentAt(1)]);
      expect(await pages(10)).toEqual([[2, 1]]);
      expect(await exported()).toEqual([1, 2]);
      expect(await receiptById(storage, rowAt(1).id)).toMatchObject({ outcome: "ok", costNanoUsd: 420_000 });
      expect((await spentByOwner(storage, START_MS)).all.total).toBe(840_000);
      expect(await deleteSettled(storage, system.clock)).toBe(2);
      expect(await pages(10)).toEqual([[2, 1]]);
    });

    test("when its process is gone it is interrupted; a journal that is found later still settles it", async () => {
      await insertRows(storage, [intentAt(1), intentAt(2, { instance: "instance_dead" })]);
      expect(await pages(10, { outcome: "interrupted" })).toEqual([[2]]);
      expect(await pages(10, { outcome: "pending" })).toEqual([[1]]);
      await deleteInstance(storage, ALIVE.id);
      expect(await pages(10, { outcome: "interrupted" })).toEqual([[2, 1]]);
      await insertRows(storage, [rowAt(2, { instance: "instance_dead" })]);
      expect(await pages(10, { outcome: "interrupted" })).toEqual([[1]]);
      expect(await pages(10)).toEqual([[2, 1]]);
      expect(await deleteSettled(storage, system.clock)).toBe(1);
    });

    test("pages and exports contain each call once, in order, however the two kinds of rows are mixed", async () => {
      const all = Array.from({ length: 60 }, (_, number) => number);
      const isSettled = (number: number) => number % 7 < 3 || (number > 20 && number < 35);
      await insertRows(
        storage,
        all.map((number) => intentAt(number)),
      );
      await insertRows(
        storage,
        all.filter(isSettled).map((number) => rowAt(number)),
      );
      for (const limit of [1, 3, 7, 59, 60, 61]) {
        expect((await pages(limit)).flat()).toEqual(all.toReversed());
        expect((await pages(limit)).every((page) => page.length <= limit)).toBe(true);
      }
      expect(await exported()).toEqual(all);
      const unsettled = all.filter((number) => !isSettled(number));
      expect(await exported({ outcome: "pending" })).toEqual(unsettled);
      expect((await pages(4, { outcome: "pending" })).flat()).toEqual(unsettled.toReversed());
      expect((await pages(10, { provider: "my-vllm" })).flat()).toEqual(all.filter(isSettled).toReversed());
      expect((await pages(50, { text: "LLAMA", key: "key_1" })).flat()).toEqual(all.toReversed());
      expect((await pages(50, { text: "gemini" })).flat()).toEqual([]);
      expect((await pages(50, { minCostNanoUsd: 1 })).flat()).toEqual(all.filter(isSettled).toReversed());
    });

    test("retention deletes them with the receipts of their time", async () => {
      await insertRows(storage, [intentAt(1), rowAt(2), intentAt(20 * DAY_MS)]);
      const clock = { ...system.clock, wallMs: () => START_MS + 21 * DAY_MS };
      await deleteOldReceipts({ storage, clock, retentionDays: 5 });
      expect(await pages(10)).toEqual([[20 * DAY_MS]]);
    });
  });
}

for (const databases of testDatabases("intents")) intentsContract(databases);
