import { nextTurn } from "../base/next-turn.ts";
import { endIdOf } from "../storage/receipts/receipt-ids.ts";
import { rollUpNext } from "../storage/receipts/roll-ups.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * Most calls have written their receipts this long after they began. Receipts of longer calls are added to the sums
 * one by one.
 */
const BEHIND_MS = 5_000;
/** Rows that one statement reads: SQLite does nothing else in the meantime. */
const ROWS_AT_ONCE = 1_000;

/** Sums up receipts of calls that began some seconds before that time. */
export function rollUpBehind(storage: Storage, nowMs: number, isStopping?: () => boolean): Promise<void> {
  return rollUpBefore(storage, nowMs - BEHIND_MS, isStopping);
}

/** Sums up receipts of calls that began before that time, in batches. */
export async function rollUpBefore(storage: Storage, beforeMs: number, isStopping = () => false): Promise<void> {
  // PostgreSQL does this with a trigger.
  if (storage.engine === "postgres") return;
  const beforeId = endIdOf(beforeMs);
  while (!isStopping() && (await rollUpNext(storage, beforeId, ROWS_AT_ONCE))) await nextTurn();
}
