import { TimeZone } from "../src/base/time-zone.ts";
import { exportReceipts } from "../src/ledger/export.ts";
import { summariseUsage, type UsageRange } from "../src/ledger/queries.ts";
import { listReceipts } from "../src/ledger/receipt-pages.ts";
import type { ReceiptFilter } from "../src/storage/receipts/receipt-pages.ts";
import type { Storage } from "../src/storage/storage.ts";
import { DAYS, FIRST_MS } from "./large-ledger-fill.ts";

const DAY_MS = 86_400_000;
/** Within an hour. */
const EDGE_MS = 1_234_567;

/** The content of the ledger: receipts, and totals of all its hours and days. */
export interface LedgerSize {
  receipts: number;
  hours: number;
  days: number;
}

export interface Question {
  what: string;
  ask: (storage: Storage) => Promise<string>;
  /** Rows and entries of indexes that it may read, as docs/benchmarks.md states it. */
  mostRows: (size: LedgerSize) => number;
  /** How much larger the process may become meanwhile. */
  mostMegabytes: number;
}

/** Receipts that are searched for a page: each is read by its id first, to find how far to go. */
const SEARCHED = 40_000;
/** Hours that hold few receipts count as a tenth of those they may hold. */
const SEARCHED_IN_HOURS = 10 * SEARCHED;
/** Receipts that are read together. */
const PART = 2_000;
const PAGE = 50;
/** Single rows, as that which tells how far sums are. */
const FEW = 100;

const range = { sinceMs: FIRST_MS, untilMs: FIRST_MS + DAYS * DAY_MS };
const hoursOf = ({ hours }: LedgerSize, count: number) => (hours * count) / (DAYS * 24);

function usage(what: string, asked: Partial<UsageRange>, mostRows: Question["mostRows"]): Question {
  return {
    what: `usage ${what}`,
    ask: async (storage) => `${(await summariseUsage(storage, { ...range, by: [], ...asked })).length} groups`,
    mostRows: (size) => mostRows(size) + FEW,
    mostMegabytes: 32,
  };
}

function page(filter: ReceiptFilter, mostRows: Question["mostRows"]): Question {
  return {
    what: `${PAGE} receipts, ${JSON.stringify(filter)}`,
    ask: async (storage) => {
      const { receipts, searchedBackToMs } = await listReceipts(storage, filter, { limit: PAGE });
      return `${receipts.length} rows${searchedBackToMs === undefined ? "" : ", bound reached"}`;
    },
    mostRows: (size) => mostRows(size) + FEW,
    mostMegabytes: 32,
  };
}

/** What a page with names in its filter may read: sums tell which hours have something. */
const named = (size: LedgerSize): number => 2 * SEARCHED_IN_HOURS + size.days + hoursOf(size, 24);

/** Many days are read as one is: some receipts after the others. */
function exported(days: number, format: "csv" | "jsonl"): Question {
  const filter = { fromMs: FIRST_MS + DAY_MS, toMs: FIRST_MS + (1 + days) * DAY_MS };
  return {
    what: `export of ${days} ${days === 1 ? "day" : "days"} as ${format}`,
    ask: async (storage) => {
      let bytes = 0;
      for await (const piece of exportReceipts(storage, filter, format)) bytes += piece.length;
      return `${(bytes / 1024 ** 2).toFixed(0)} MB written`;
    },
    mostRows: ({ receipts }) => (2 * days * receipts) / DAYS + PART + FEW,
    mostMegabytes: 128,
  };
}

export const QUESTIONS: readonly Question[] = [
  usage("by model, 30 days", { by: ["model"] }, ({ days }) => days),
  usage("by day, model", { by: ["day", "model"] }, ({ days }) => days),
  usage(
    "by day, Europe/Berlin",
    { by: ["day"], zone: TimeZone.named("Europe/Berlin") },
    (size) => size.days + hoursOf(size, 2 * (DAYS + 1)),
  ),
  usage(
    "by day, Asia/Kolkata",
    { by: ["day"], zone: TimeZone.named("Asia/Kolkata") },
    (size) => size.days + hoursOf(size, 5 * (DAYS + 1)) + size.receipts / 48,
  ),
  usage(
    "by key, edges within hours",
    { sinceMs: range.sinceMs + EDGE_MS, untilMs: range.untilMs - EDGE_MS, by: ["key"] },
    (size) => size.days + hoursOf(size, 2 * 23) + (2 * size.receipts) / (DAYS * 24),
  ),
  page({}, () => PART + PAGE),
  page({ key: "key_7" }, named),
  page({ key: "key_7", model: "acme/m7" }, named),
  page({ key: "key_of_none" }, (size) => size.days + hoursOf(size, 24)),
  page({ text: "nothing" }, () => 2 * (SEARCHED + PART)),
  page({ minCostNanoUsd: 5_000 }, () => 2 * (SEARCHED + PART)),
  page({ toMs: FIRST_MS + 15 * DAY_MS, key: "key_3" }, named),
  exported(1, "csv"),
  exported(1, "jsonl"),
  exported(5, "csv"),
];
