import { number, text } from "../columns.ts";
import type { Queries, StoredRow } from "../storage.ts";

/** An update of the catalogue as it is stored. */
export interface StoredUpdate {
  number: number;
  appliedAtMs: number;
  who: string;
  source: string;
  /** YYYY-MM-DD */
  asOf: string;
  digest: string;
  /** JSON of the patches. */
  models: string;
}

const COUNTER = "SELECT value FROM change_counters WHERE name = 'catalogue'";

/** Changes whenever an update is applied or removed. */
export async function readCatalogueChanges(queries: Queries): Promise<number> {
  const [row] = await queries.query(COUNTER);
  return row === undefined ? 0 : number(row, "value");
}

/** The number of this change. Other changes wait here until the transaction ends. */
export async function countCatalogueChange(queries: Queries): Promise<number> {
  const [row] = await queries.query(
    "UPDATE change_counters SET value = value + 1 WHERE name = 'catalogue' RETURNING value",
  );
  return row === undefined ? 0 : number(row, "value");
}

export async function insertUpdate(queries: Queries, update: StoredUpdate): Promise<void> {
  const { number: place, appliedAtMs, who, source, asOf, digest, models } = update;
  await queries.query(
    "INSERT INTO catalogue_updates (number, applied_at_ms, who, source, as_of, digest, models) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [place, appliedAtMs, who, source, asOf, digest, models],
  );
}

export async function selectUpdates(queries: Queries): Promise<StoredUpdate[]> {
  const rows = await queries.query("SELECT * FROM catalogue_updates ORDER BY number");
  return rows.map(readUpdate);
}

/** Whether there was such an update. */
export async function deleteUpdate(queries: Queries, place: number): Promise<boolean> {
  const rows = await queries.query("DELETE FROM catalogue_updates WHERE number = ? RETURNING number", [place]);
  return rows.length > 0;
}

const readUpdate = (row: StoredRow): StoredUpdate => ({
  number: number(row, "number"),
  appliedAtMs: number(row, "applied_at_ms"),
  who: text(row, "who"),
  source: text(row, "source"),
  asOf: text(row, "as_of"),
  digest: text(row, "digest"),
  models: text(row, "models"),
});
