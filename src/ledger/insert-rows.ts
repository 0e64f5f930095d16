import type { Receipt } from "../canon/receipt.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { insertIntents, PENDING } from "../storage/tables/intents.ts";

/** Whether the row only records that a call exists. */
export const isIntent = ({ outcome }: Receipt): boolean => outcome === PENDING;

/** Writes rows of the ledger. Intents have their own table, so that no sum includes them. */
export async function insertRows(storage: Storage, rows: readonly Receipt[]): Promise<void> {
  if (!rows.some(isIntent)) return await insertReceipts(storage, rows);
  await insertIntents(storage, rows.filter(isIntent));
  await insertReceipts(
    storage,
    rows.filter((row) => !isIntent(row)),
  );
}
