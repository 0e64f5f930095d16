import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { readReceipt } from "../storage/receipts/receipt-columns.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { spentByOwner } from "./queries.ts";
import { reprice } from "./reprice.ts";

const DAY_MS = 86_400_000;
const FROM_MS = Date.UTC(2026, 0, 30);
const PRICES = { id: "a".repeat(32), text: "old" };

let storage: Storage;
beforeEach(async () => {
  storage = await openMemoryStorage(new VirtualClock());
});
afterEach(() => storage.close());

const called = (index: number, changes: Partial<Receipt> = {}): Receipt => {
  const createdAtMs = FROM_MS + index * 1000;
  const id = `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${String(index).padStart(8, "0")}`;
  return sampleReceipt({ id, createdAtMs, costNanoUsd: 100, pricedBy: PRICES, ...changes });
};

/** Each receipt costs `nano`, whatever it used. */
const at = (nano: number, more: Partial<Parameters<typeof reprice>[1]> = {}) => ({
  fromMs: FROM_MS,
  untilMs: FROM_MS + DAY_MS,
  isWanted: () => true,
  priceAgain: () => ({ costNanoUsd: nano, priceRule: `now ${nano}`, pricedBy: { id: "b".repeat(32), text: "new" } }),
  dryRun: false,
  ...more,
});

const rows = async (condition: string) => {
  const found = await storage.query(`SELECT * FROM receipts WHERE ${condition} ORDER BY id`);
  return found.map(readReceipt);
};

describe("trivium reprice: corrections are separate rows", () => {
  test("a correction is the difference, on the day of its call; the receipt stays unchanged", async () => {
    await insertReceipts(storage, [called(1), called(2, { costNanoUsd: 70, key: "key_2", project: "other" })]);
    const before = await rows("adjusts IS NULL");
    expect(await reprice(storage, at(60))).toEqual({
      receipts: 2,
      corrected: 2,
      differenceNanoUsd: -50,
      models: [{ model: "acme/llama", corrected: 2, differenceNanoUsd: -50 }],
      skipped: {},
    });
    expect(await rows("adjusts IS NULL")).toEqual(before);
    expect(await rows("adjusts IS NOT NULL")).toMatchObject([
      { adjusts: called(1).id, costNanoUsd: -40, project: "default", key: "key_1", usage: {}, priceRule: "now 60" },
      { adjusts: called(2).id, costNanoUsd: -10, project: "other", key: "key_2", pricedBy: { id: "b".repeat(32) } },
    ]);
    expect((await rows("adjusts IS NOT NULL")).map(({ instance }) => instance)).toEqual([undefined, undefined]);
    const { byKey, byProject, all } = await spentByOwner(storage, FROM_MS + 5000);
    expect(byKey.get("key_1")).toMatchObject({ day: 60, month: 60, total: 60 });
    expect(byProject.get("other")).toMatchObject({ day: 60, month: 60, total: 60 });
    expect(all.day).toBe(120);
  });

  test("a second run adds nothing; other prices are corrected again, and back again", async () => {
    await insertReceipts(storage, [called(1)]);
    expect((await reprice(storage, at(60))).corrected).toBe(1);
    expect((await reprice(storage, at(60))).corrected).toBe(0);
    expect((await reprice(storage, at(100))).differenceNanoUsd).toBe(40);
    expect((await reprice(storage, at(60))).differenceNanoUsd).toBe(-40);
    expect((await reprice(storage, at(60))).corrected).toBe(0);
    const [sum] = await storage.query("SELECT SUM(cost_nano_usd) AS cost FROM receipts");
    expect(Number(sum?.["cost"])).toBe(60);
  });

  test("two runs at the same time write each correction once", async () => {
    await insertReceipts(
      storage,
      Array.from({ length: 40 }, (_, index) => called(index)),
    );
    await Promise.all([reprice(storage, at(61)), reprice(storage, at(61))]);
    expect(await rows("adjusts IS NOT NULL")).toHaveLength(40);
  });

  test("a dry run reports the same and writes nothing", async () => {
    await insertReceipts(storage, [called(1), called(2)]);
    const dry = await reprice(storage, at(60, { dryRun: true }));
    expect(await rows("adjusts IS NOT NULL")).toEqual([]);
    expect(await reprice(storage, at(60))).toEqual(dry);
  });

  test("only calls of the given range, project and models are corrected, page by page", async () => {
    const late = called(90_000, {
      id: `${RECEIPT_PREFIX}${timePrefix(FROM_MS + DAY_MS)}x`,
      createdAtMs: FROM_MS + DAY_MS,
    });
    const early = called(0, { id: `${RECEIPT_PREFIX}${timePrefix(FROM_MS - 1)}x`, createdAtMs: FROM_MS - 1 });
    const many = Array.from({ length: 1200 }, (_, index) =>
      called(index, {
        model: index % 3 === 0 ? "acme/other" : "acme/llama",
        project: index % 2 === 0 ? "even" : "odd",
      }),
    );
    await insertReceipts(storage, [early, ...many, late]);
    const isWanted = ({ model }: Receipt) => model === "acme/other";
    expect(await reprice(storage, at(60, { project: "even", isWanted, dryRun: true }))).toMatchObject({
      corrected: 200,
    });
    expect(await reprice(storage, at(60))).toMatchObject({ receipts: 1200, corrected: 1200 });
    expect(await reprice(storage, at(60))).toMatchObject({ receipts: 1200, corrected: 0 });
  });

  test("receipts that cannot be repriced are counted by reason, and left alone", async () => {
    await insertReceipts(storage, [called(1), called(2)]);
    const seen: (string | undefined)[] = [];
    const priceAgain = (_receipt: Receipt, textOf: (id: string) => string | undefined) => {
      seen.push(textOf(PRICES.id));
      return { skipped: "its offer is gone" };
    };
    expect(await reprice(storage, at(60, { priceAgain }))).toMatchObject({
      corrected: 0,
      skipped: { "its offer is gone": 2 },
    });
    expect(seen).toEqual(["old", "old"]);
  });
});
