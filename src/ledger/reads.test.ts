import { afterAll, describe, expect, test } from "bun:test";
import { countReads, hasIoCounts, type Reads } from "../../testing/read-counter.ts";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { TimeZone } from "../base/time-zone.ts";
import { timePrefix } from "../base/timed-id.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { ReceiptFilter } from "../storage/receipts/receipt-pages.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { REPORT_MS, type Storage } from "../storage/storage.ts";
import { summariseUsage } from "./queries.ts";
import { listReceipts } from "./receipt-pages.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 4, 1);
const AN_HOUR = 30;
const KEYS = 10;
const AT_ONCE = 1_000;
/** Single rows: settings at start, and how far sums have been computed. */
const FEW = 50;

/** A ledger with receipts of ten keys in each hour, and one of another key in the first hour. */
async function filled(url: string, days: number): Promise<void> {
  const storage = await openStorage(url, system.clock);
  const count = days * 24 * AN_HOUR;
  const receiptAt = (index: number) => {
    const createdAtMs = START_MS + index * (HOUR_MS / AN_HOUR);
    const id = `rcp_${timePrefix(createdAtMs)}${String(index).padStart(7, "0")}`;
    const key = index === 0 ? "key_once" : `key_${index % KEYS}`;
    const set = { id, createdAtMs, key, model: "acme/m", offers: [], fields: [], costNanoUsd: 1 };
    // Few receipts have these, and a page holds fewer rows with them.
    const { guards: _guards, endUser: _user, ...receipt } = sampleReceipt(set);
    return receipt;
  };
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Math.min(AT_ONCE, count - from);
    await insertReceipts(
      storage,
      Array.from({ length: some }, (_, index) => receiptAt(from + index)),
    );
  }
  await rollUpBefore(storage, START_MS + days * DAY_MS, () => false);
  // As autovacuum does with a table that has grown.
  if (storage.engine === "postgres") await storage.query("VACUUM (ANALYZE)", [], REPORT_MS);
  await storage.close();
}

async function reads(url: string, ask: (storage: Storage) => Promise<unknown>): Promise<Reads> {
  const open = async () => {
    const storage = await openStorage(url, system.clock);
    // The first query starts the thread that reads a SQLite file.
    await storage.query("SELECT 1", [], REPORT_MS);
    return storage;
  };
  return (await countReads(url, open, ask)).reads;
}

const page = (filter: ReceiptFilter, found: number) => async (storage: Storage) => {
  const { receipts } = await listReceipts(storage, filter, { limit: 50 });
  expect(receipts).toHaveLength(found);
};

const zone = TimeZone.named("Asia/Kolkata");
const SECOND_DAY = { sinceMs: START_MS + DAY_MS, untilMs: START_MS + 2 * DAY_MS };

/** Hours are looked up in the sums of a day, one for each key and hour. */
const HOURS_OF_DAY = 24 * KEYS;
/** Fifty of a tenth are found in seventeen hours: each receipt is read by its id, and then as a whole. */
const OF_KEY = 2 * 17 * AN_HOUR + HOURS_OF_DAY;

/** Queries, and how many rows each may read in addition to the sums of days, in a ledger of any length. */
const QUESTIONS = [
  ["the newest page", page({}, 50), 2_000 + 50],
  ["the newest page of a key", page({ key: "key_7" }, 50), OF_KEY],
  ["a page of a key from the middle", page({ key: "key_7", toMs: START_MS + DAY_MS }, 50), OF_KEY],
  ["a page of a key that was used once", page({ key: "key_once" }, 1), 2 * AN_HOUR + HOURS_OF_DAY],
  ["a page of a key that does not exist", page({ key: "key_of_none" }, 0), HOURS_OF_DAY],
  [
    "usage of one day of India by key",
    (storage: Storage) => summariseUsage(storage, { ...SECOND_DAY, by: ["day", "key"], zone }),
    HOURS_OF_DAY + AN_HOUR,
  ],
] as const;

/** A page of SQLite, which does not count rows, holds more rows than this. */
const ROWS_A_PAGE = 8;

function readsContract(databases: TestDatabases): void {
  describe.if(databases.engine === "postgres" || hasIoCounts())(`what queries read on ${databases.engine}`, () => {
    afterAll(() => databases.clear());

    test.each([7, 28])("pages and reports of a ledger of %d days read only what they need", async (days) => {
      const url = await databases.withTables();
      await filled(url, days);
      for (const [what, ask, mostRows] of QUESTIONS) {
        const { rows, pages } = await reads(url, ask);
        const most = mostRows + 2 * days * KEYS + FEW;
        if (rows !== undefined) expect(rows, `rows for ${what}`).toBeLessThanOrEqual(most);
        else expect(pages, `pages for ${what}`).toBeLessThanOrEqual(most / ROWS_A_PAGE + FEW);
      }
    });
  });
}

for (const databases of testDatabases("what questions read")) readsContract(databases);
