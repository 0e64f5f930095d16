import { type Parameter, REPORT_MS, type Storage, type StoredRow } from "../storage.ts";

/**
 * Runs a statement that sums up. PostgreSQL takes a range that comes as a row for a large part of the table, and would compile such a
 * statement to machine code first: with some millions of receipts for seconds, where reading takes hundredths of one.
 */
export function readSums(
  storage: Storage,
  text: string,
  parameters: readonly Parameter[],
): Promise<readonly StoredRow[]> {
  if (storage.engine === "sqlite") return storage.query(text, parameters, REPORT_MS);
  return storage.transaction(async (queries) => {
    // For this transaction alone: the connection may be a pooler's, which others use as well.
    await queries.query("SET LOCAL jit = off");
    return queries.query(text, parameters);
  }, REPORT_MS);
}
