import type { Receipt } from "../canon/receipt.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { insertIntents, PENDING } from "../storage/tables/intents.ts";

/** Whether the row only says that there is a call. */
export const isIntent = ({ outcome }: Receipt): boolean => outcome === PENDING;

/** Writes rows of the ledger: intents beside the receipts that settle them, so that they are in no sum. */
export async function insertRows(storage: Storage, rows: readonly Receipt[]): Promise<void> {
  if (!rows.some(isIntent)) return await insertReceipts(storage, rows);
  await insertIntents(storage, rows.filter(isIntent));
  await insertReceipts(
    storage,
    rows.filter((row) => !isIntent(row)),
  );
}
