import { number, text } from "../columns.ts";
import type { ChangeStamp, Queries } from "../storage.ts";

/**
 * Rows that every write to the keys or the catalogue and every question increment, in the same transaction. SQLite's `data_version` would
 * work for only one engine, and would also change with every receipt that another process writes.
 */
export async function readChangeStamp(queries: Queries): Promise<ChangeStamp> {
  const stamp: ChangeStamp = { keys: 0, catalogue: 0, questions: 0 };
  for (const row of await queries.query("SELECT name, value FROM change_counters")) {
    const name = text(row, "name");
    if (name === "keys" || name === "catalogue" || name === "questions") stamp[name] = number(row, "value");
  }
  return stamp;
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
