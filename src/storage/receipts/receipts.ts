import type { Receipt } from "../../canon/receipt.ts";
import { text } from "../columns.ts";
import { postgresText } from "../postgres.ts";
import type { Parameter, Queries, Storage } from "../storage.ts";
import { insertPrices, keepPrices, newPrices, pricesOf } from "../tables/prices.ts";
import { keepInstanceDays } from "./instance-sums.ts";
import { INSERT_ROW, RECEIPT_COLUMNS, readReceipt, receiptValues, rowValues } from "./receipt-columns.ts";
import { endIdOf } from "./receipt-ids.ts";
import { findOrAddKind, findOrAddWriter, kindsOf } from "./receipt-kinds.ts";
import { NOT_ROLLED_UP } from "./roll-up-columns.ts";
import { rollUpLate, rollUpLateOne } from "./roll-ups.ts";

const NAMES = RECEIPT_COLUMNS.map((column) => column.name).join(", ");
const ONCE = "ON CONFLICT (id) DO NOTHING";
const INSERT_ONE = `INSERT INTO receipts (${NAMES}) VALUES (${RECEIPT_COLUMNS.map(() => "?").join(",")}) ${ONCE}`;
const INSERT_JSON = `INSERT INTO receipts (${NAMES}) SELECT ${NAMES}
  FROM json_to_recordset(CAST(CAST(? AS TEXT) AS JSON))
  AS row_of (${RECEIPT_COLUMNS.map((column) => `${column.name} ${column.type}`).join(", ")}) ${ONCE}`;

/**
 * Writes the rows together: all of them or none. A receipt that exists already is left alone, because the same rows
 * are sent again after a lost response.
 * SQLite is fastest with one prepared statement run for each row. PostgreSQL, over a socket, is fastest with one
 * statement that takes all rows as JSON; its trigger updates the roll-ups.
 */
export async function insertReceipts(storage: Storage, receipts: readonly Receipt[]): Promise<void> {
  if (receipts.length === 0) return;
  const unkept = newPrices(storage, receipts);
  if (unkept !== undefined) await keepPrices(storage, unkept);
  if (storage.engine === "postgres") {
    await storage.query(INSERT_JSON, [JSON.stringify(receipts.map(asJsonRow))]);
    return;
  }
  await storage.runForEach(INSERT_ROW, await sqliteRows(storage, receipts), rollUpLate(receipts));
}

async function sqliteRows(storage: Storage, receipts: readonly Receipt[]): Promise<Parameter[][]> {
  const kinds = kindsOf(storage);
  const rows: Parameter[][] = [];
  for (const receipt of receipts) {
    let kind = kinds.numberOf(receipt);
    let writer = kinds.writerOf(receipt);
    if (kind === undefined || writer === undefined) {
      ({ kind, writer } = await kinds.keep(storage, receipt));
    }
    rows.push(rowValues(receipt, kind, writer));
  }
  return rows;
}

/** A receipt, and in SQLite its row, which refers to other rows that are stored. */
export interface ReadyReceipt {
  receipt: Receipt;
  row: Parameter[] | undefined;
}

/** Stores what receipts refer to, so that `insertReady` inserts many of them in a transaction. */
export async function makeReady(storage: Storage, receipts: readonly Receipt[]): Promise<ReadyReceipt[]> {
  const unkept = newPrices(storage, receipts);
  if (unkept !== undefined) await keepPrices(storage, unkept);
  const rows = storage.engine === "sqlite" ? await sqliteRows(storage, receipts) : [];
  return receipts.map((receipt, index) => ({ receipt, row: rows[index] }));
}

/** Inserts receipts in the caller's transaction. */
export async function insertReady(queries: Queries, ready: readonly ReadyReceipt[]): Promise<void> {
  if (ready.length === 0) return;
  const inserted: Receipt[] = [];
  for (const { receipt, row } of ready) {
    if (row === undefined) continue;
    const added = await queries.query(`${INSERT_ROW} RETURNING id`, row);
    if (added.length > 0) inserted.push(receipt);
  }
  const ofPostgres = ready.filter(({ row }) => row === undefined);
  if (ofPostgres.length > 0)
    await queries.query(INSERT_JSON, [JSON.stringify(ofPostgres.map(({ receipt }) => asJsonRow(receipt)))]);
  if (inserted.length === 0) return;
  const { given, statements } = rollUpLate(inserted);
  const changes = inserted.map(() => 1);
  for (const [text, parameters] of statements(changes, await queries.query(given)))
    await queries.query(text, parameters);
}

/** Inserts one receipt in the caller's transaction. */
export async function insertReceipt(queries: Queries, receipt: Receipt, engine: Storage["engine"]): Promise<void> {
  const prices = pricesOf(receipt);
  if (prices.length > 0) await insertPrices(queries, prices, receipt.createdAtMs);
  if (engine === "postgres") {
    await queries.query(INSERT_ONE, receiptValues(receipt));
    return;
  }
  const kind = await findOrAddKind(queries, receipt);
  const writer = await findOrAddWriter(queries, receipt);
  const added = await queries.query(`${INSERT_ROW} RETURNING id`, rowValues(receipt, kind, writer));
  if (added.length > 0) await rollUpLateOne(queries, receipt);
}

function asJsonRow(receipt: Receipt): Record<string, Parameter> {
  const row: Record<string, Parameter> = {};
  for (const [index, value] of receiptValues(receipt).entries()) {
    // PostgreSQL can read neither a NUL nor half a surrogate pair from JSON.
    row[RECEIPT_COLUMNS[index]?.name ?? ""] = typeof value === "string" ? postgresText(value.toWellFormed()) : value;
  }
  return row;
}

export async function selectReceipt(queries: Queries, project: string, id: string): Promise<Receipt | undefined> {
  const [row] = await queries.query(`SELECT ${NAMES} FROM receipts WHERE id = ? AND project = ?`, [id, project]);
  return row === undefined ? undefined : readReceipt(row);
}

/** Receipts that an export has not written yet are kept for it. */
const EXPORTED = `id < COALESCE((SELECT MIN(next_id) FROM exports), '~') AND id NOT IN (SELECT id FROM export_late)`;

/** Some receipts that were deleted, and the last of their ids. */
interface Deleted {
  count: number;
  lastId: string;
}

/**
 * Deletes the oldest rolled-up and exported receipts after that id and before that time, at most `limit`. Without the
 * id, PostgreSQL would step over the index entries of all that were deleted before, until they are vacuumed.
 */
export async function deleteReceiptsBefore(
  storage: Storage,
  beforeMs: number,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<Deleted> {
  const table = storage.engine === "sqlite" ? "receipt_rows" : "receipts";
  // Two instances may delete at once, and each receipt is kept in one sum.
  const locked = storage.engine === "postgres" ? "FOR UPDATE SKIP LOCKED" : "";
  return await storage.transaction(async (queries) => {
    const rows = await queries.query(
      `SELECT id FROM receipts WHERE id > ? AND id < ? AND created_at_ms < ? AND NOT (${NOT_ROLLED_UP}) AND ${EXPORTED}
       ORDER BY id LIMIT ? ${locked}`,
      [afterId, endIdOf(beforeMs), beforeMs, limit],
    );
    const ids = rows.map((row) => text(row, "id"));
    if (ids.length === 0) return { count: 0, lastId: afterId };
    await keepInstanceDays(queries, ids);
    await queries.query(`DELETE FROM ${table} WHERE id IN (${ids.map(() => "?").join(", ")})`, ids);
    return { count: ids.length, lastId: ids.at(-1) ?? afterId };
  });
}
