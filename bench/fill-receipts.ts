import { rollUpBefore } from "../src/ledger/roll-up-before.ts";
import { insertReceipts } from "../src/storage/receipts/receipts.ts";
import type { Storage } from "../src/storage/storage.ts";
import { receiptOf } from "./growth/receipt-of.ts";

const ROWS_AT_ONCE = 1_000;
const KEYS = 50;

/**
 * Fills a ledger with so many receipts, spread evenly over the time: of 50 keys in 5 projects, each with 3 of 20
 * models, the tag of its team on every third call, and one of 5 features beside it. */
export async function fillReceipts(
  storage: Storage,
  { rows, fromMs, toMs }: { rows: number; fromMs: number; toMs: number },
): Promise<void> {
  const stepMs = (toMs - fromMs) / rows;
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, rows - from);
    const receipts = Array.from({ length: count }, (_, index) =>
      receiptOf(from + index, fromMs + (from + index) * stepMs, KEYS),
    );
    await insertReceipts(storage, receipts);
  }
  await rollUpBefore(storage, toMs);
}
