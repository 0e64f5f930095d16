import { number, text } from "../columns.ts";
import type { Queries } from "../storage.ts";

/**
 * A row that every write to the keys increments, in the same transaction. SQLite's `data_version` would work for only
 * one engine, and would also change with every receipt that another process writes.
 */
export async function readKeyChanges(queries: Queries): Promise<string> {
  const [row] = await queries.query("SELECT value FROM change_counters WHERE name = 'keys'");
  return row === undefined ? "0" : text(row, "value");
}

/**
 * The number of this change, which is stored in the changed rows. Others wait here until the transaction ends, so the
 * numbers are in order.
 */
export async function countKeyChange(queries: Queries): Promise<number> {
  const counted = "UPDATE change_counters SET value = value + 1 WHERE name = 'keys' RETURNING value";
  const [row] = await queries.query(counted);
  return row === undefined ? 0 : number(row, "value");
}

/** What has changed since a reading of the counter. */
export interface Changed<Row> {
  row: Row;
  changeNumber: number;
}
