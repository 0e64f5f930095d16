import { describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipt, insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import { spentByOwner, summariseUsage } from "./queries.ts";
import { listReceipts } from "./receipt-pages.ts";
import { deleteOldReceipts } from "./retention.ts";
import { rollUpBefore, rollUpBehind } from "./roll-up-before.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 1);

/** A small generator with the same sequence in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const total = (receipts: readonly Receipt[], sinceMs: number, untilMs: number) => {
  const own = receipts.filter(({ createdAtMs }) => createdAtMs >= sinceMs && createdAtMs < untilMs);
  return {
    calls: own.filter(({ adjusts }) => adjusts === undefined).length,
    costNanoUsd: own.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
    input: own.reduce((sum, { usage }) => sum + (usage.input ?? 0), 0),
  };
};

async function expectTotals(storage: Storage, receipts: readonly Receipt[], nowMs: number): Promise<void> {
  const untilMs = START_MS + 3 * DAY_MS;
  for (const sinceMs of [START_MS, START_MS + 5 * HOUR_MS, START_MS + 90 * 60_000, nowMs - HOUR_MS]) {
    const [sum] = await summariseUsage(storage, { by: [], sinceMs, untilMs });
    const { calls, costNanoUsd, input } = total(receipts, sinceMs, untilMs);
    expect([sum?.calls ?? 0, sum?.costNanoUsd ?? 0, sum?.usage.input ?? 0]).toEqual([calls, costNanoUsd, input]);
    for (const by of ["hour", "day", "model"] as const) {
      const groups = await summariseUsage(storage, { by: [by], sinceMs, untilMs });
      expect(groups.reduce((all, group) => all + group.costNanoUsd, 0)).toBe(costNanoUsd);
    }
  }
  const { all } = await spentByOwner(storage, nowMs);
  const dayStartMs = nowMs - (nowMs % DAY_MS);
  expect(all.total).toBe(total(receipts, 0, Number.MAX_SAFE_INTEGER).costNanoUsd);
  expect(all.day).toBe(total(receipts, dayStartMs, Number.MAX_SAFE_INTEGER).costNanoUsd);
  expect((await checkRollUps(storage)).differences).toEqual([]);
  const page = await listReceipts(storage, { model: "acme/m1" }, { limit: 1_000 });
  expect(page.receipts.length).toBe(receipts.filter(({ model }) => model === "acme/m1").length);
}

describe("sums of hours and days in SQLite lag behind the receipts, which is never visible", () => {
  for (const seed of [1, 2, 3]) {
    test(`early, late and repeated rows, corrections and deleted ones, seed ${seed}`, async () => {
      const storage = await openMemoryStorage(system.clock);
      const below = numbers(seed);
      const receipts: Receipt[] = [];
      let nowMs = START_MS + HOUR_MS;
      for (let round = 0; round < 30; round += 1) {
        nowMs += below(4) === 0 ? below(3 * HOUR_MS) : below(10_000);
        const batch = Array.from({ length: 1 + below(6) }, (_, index) => {
          // Most calls are short; some end long after their hour was summed up.
          const createdAtMs = Math.max(START_MS, nowMs - (below(5) === 0 ? below(5 * HOUR_MS) : below(2_000)));
          return sampleReceipt({
            id: `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${seed}-${round}-${index}`,
            createdAtMs,
            model: `acme/m${below(3)}`,
            costNanoUsd: below(1_000),
            usage: below(3) === 0 ? {} : { input: below(50) },
            ...(below(7) === 0 ? { adjusts: "rcp_0" } : {}),
          });
        });
        receipts.push(...batch);
        const [first, ...others] = batch;
        if (first !== undefined && below(3) === 0) {
          await storage.transaction((queries) => insertReceipt(queries, first, storage.engine));
          await insertReceipts(storage, others);
        } else await insertReceipts(storage, batch);
        // Sent again, as after a lost response.
        if (below(3) === 0) await insertReceipts(storage, batch);
        if (below(2) === 0) await rollUpBehind(storage, nowMs);
        await expectTotals(storage, receipts, nowMs);
      }
      const lastMs = nowMs + 1;
      await insertReceipts(storage, [
        sampleReceipt({ id: `${RECEIPT_PREFIX}${timePrefix(lastMs)}`, createdAtMs: lastMs }),
      ]);
      const [before] = await summariseUsage(storage, { by: [], sinceMs: START_MS, untilMs: START_MS + 3 * DAY_MS });
      const clock = { ...system.clock, wallMs: () => nowMs + 2 * DAY_MS };
      // Deleting sums up the rest first.
      expect(await deleteOldReceipts({ storage, clock, retentionDays: 1 })).toBe(receipts.length + 1);
      const [after] = await summariseUsage(storage, { by: [], sinceMs: START_MS, untilMs: START_MS + 3 * DAY_MS });
      expect(after).toEqual(before);
      await storage.close();
    });
  }

  test("retention goes on after what it has deleted, instead of looking from the first id again", async () => {
    const storage = await openMemoryStorage(system.clock);
    const ids = Array.from({ length: 700 }, (_, index) => `${RECEIPT_PREFIX}${timePrefix(START_MS + index)}${index}`);
    await insertReceipts(
      storage,
      ids.map((id, index) => sampleReceipt({ id, createdAtMs: START_MS + index })),
    );
    const after: unknown[] = [];
    const transaction = storage.transaction.bind(storage);
    storage.transaction = (work, ...rest) =>
      transaction(
        ({ query }) => {
          const watched: typeof query = (text, parameters, ...more) => {
            if (text.startsWith("SELECT id FROM receipts")) after.push(parameters?.[0]);
            return query(text, parameters, ...more);
          };
          return work({ query: watched });
        },
        ...rest,
      );
    const clock = { ...system.clock, wallMs: () => START_MS + 3 * DAY_MS };
    expect(await deleteOldReceipts({ storage, clock, retentionDays: 1 })).toBe(700);
    expect(after).toEqual(["", ids[499]]);
    await storage.close();
  });

  test("many receipts are summed up in batches", async () => {
    const storage = await openMemoryStorage(system.clock);
    const receipts = Array.from({ length: 2_500 }, (_, index) =>
      sampleReceipt({
        id: `${RECEIPT_PREFIX}${timePrefix(START_MS + index)}${index}`,
        createdAtMs: START_MS + index,
        costNanoUsd: index,
      }),
    );
    await insertReceipts(storage, receipts);
    await rollUpBefore(storage, START_MS + HOUR_MS);
    const [summed] = await storage.query("SELECT SUM(calls) AS calls, SUM(cost_nano_usd) AS cost FROM usage_days");
    expect(summed).toEqual({ calls: 2_500, cost: (2_499 * 2_500) / 2 });
    await storage.close();
  });
});
