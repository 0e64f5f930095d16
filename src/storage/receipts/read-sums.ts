import { type Parameter, REPORT_MS, type Storage, type StoredRow } from "../storage.ts";

/**
 * Runs a statement that sums up. PostgreSQL estimates that a range from a row covers a large part of the table, and
 * would compile the statement to machine code first: with some millions of receipts that takes seconds, while reading
 * takes hundredths of one.
 */
export function readSums(
  storage: Storage,
  text: string,
  parameters: readonly Parameter[],
): Promise<readonly StoredRow[]> {
  if (storage.engine === "sqlite") return storage.query(text, parameters, REPORT_MS);
  return storage.transaction(async (queries) => {
    // Only for this transaction: the connection may belong to a pooler and be shared.
    await queries.query("SET LOCAL jit = off");
    return queries.query(text, parameters);
  }, REPORT_MS);
}
