import { GatewayError } from "../canon/error.ts";
import { number, text } from "./columns.ts";
import { postgresText } from "./postgres.ts";
import { RECEIPT_COLUMNS } from "./receipts/receipt-columns.ts";
import { rollUpNext } from "./receipts/roll-ups.ts";
import type { Parameter, Queries, Storage, StoredRow } from "./storage.ts";

/** Tables about the database itself, or about the processes that use it. */
const LEFT_OUT = new Set(["migrations", "instances", "instance_days", "rolled_up", "questions", "question_answers"]);
/** The tables of SQLite that receipts are read from. */
const PARTS_OF_RECEIPTS = new Set(["receipt_kinds", "receipt_writers", "receipt_rows"]);
const RECEIPTS: Table = { name: "receipts", columns: RECEIPT_COLUMNS.map(({ name }) => name), key: ["id"] };
/** Has initial rows, which are replaced. */
const PREPARED = "change_counters";
const ROWS_AT_ONCE = 200;
const ROWS_TO_SUM_UP = 10_000;
/** After the id of every receipt. */
const AFTER_ALL = "~";
/** Neither copying nor checking has a time limit of its own: both run as long as the databases answer. */
const COPY_MS = 24 * 3_600_000;

interface Table {
  name: string;
  columns: string[];
  /** The columns of its primary key. */
  key: string[];
}

interface CopiedTable {
  table: string;
  rows: number;
}

/**
 * Copies every row of a SQLite storage into an empty PostgreSQL one with tables of the same version. Each row is read
 * back and compared. Everything happens in one transaction: if anything fails, the target stays empty.
 */
export async function copyStorage(source: Storage, target: Storage): Promise<CopiedTable[]> {
  // The sums of the target include all receipts.
  while (await rollUpNext(source, AFTER_ALL, ROWS_TO_SUM_UP));
  return target.transaction(async (to) => {
    // The sums are copied like everything else; they include receipts that were deleted.
    await to.query("ALTER TABLE receipts DISABLE TRIGGER USER");
    const copied = await source.transaction(async (from) => {
      const tables = await tablesOf(from);
      for (const table of tables) await requireEmpty(to, table);
      const counts: CopiedTable[] = [];
      for (const table of tables) counts.push({ table: table.name, rows: await copyTable(from, to, table) });
      return counts;
    }, COPY_MS);
    await to.query("ALTER TABLE receipts ENABLE TRIGGER USER");
    return copied;
  }, COPY_MS);
}

/** In the order of their creation: a table that others refer to comes first. */
async function tablesOf(from: Queries): Promise<Table[]> {
  const rows = await from.query(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
  );
  const names = rows
    .map((row) => text(row, "name"))
    .filter((name) => !LEFT_OUT.has(name) && !PARTS_OF_RECEIPTS.has(name));
  const tables = await Promise.all(
    names.map(async (name) => {
      const columns = await from.query(`SELECT name, pk FROM pragma_table_info('${name}') ORDER BY cid`);
      const key = columns.filter((row) => number(row, "pk") > 0).sort((a, b) => number(a, "pk") - number(b, "pk"));
      return { name, columns: columns.map((row) => text(row, "name")), key: key.map((row) => text(row, "name")) };
    }),
  );
  return [RECEIPTS, ...tables];
}

async function requireEmpty(to: Queries, { name }: Table): Promise<void> {
  if (name === PREPARED) {
    await to.query(`DELETE FROM ${name}`);
    return;
  }
  const rows = await to.query(`SELECT 1 AS one FROM ${name} LIMIT 1`);
  if (rows.length === 0) return;
  throw new GatewayError(
    "invalid_request",
    `The target already has rows in ${name}, so nothing was copied. Use a database that no gateway has used.`,
  );
}

async function copyTable(from: Queries, to: Queries, table: Table): Promise<number> {
  const { name, columns, key } = table;
  const names = columns.join(", ");
  const order = key.join(", ");
  const marks = (count: number) => `(${Array.from({ length: count }, () => "?").join(", ")})`;
  let copied = 0;
  let after: Parameter[] | undefined;
  for (;;) {
    const where = after === undefined ? "" : `WHERE (${order}) > ${marks(key.length)}`;
    const rows = await from.query(
      `SELECT ${names} FROM ${name} ${where} ORDER BY ${order} LIMIT ${ROWS_AT_ONCE}`,
      after ?? [],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    const values = rows.map((row) => columns.map((column) => cellOf(row, column)));
    await to.query(
      `INSERT INTO ${name} (${names}) VALUES ${values.map((row) => marks(row.length)).join(", ")}`,
      values.flat(),
    );
    const keys = rows.map((row) => key.map((column) => cellOf(row, column)));
    const kept = await to.query(
      `SELECT ${names} FROM ${name} WHERE (${order}) IN (${keys.map((one) => marks(one.length)).join(", ")})`,
      keys.flat(),
    );
    compareRows(table, rows, kept);
    copied += rows.length;
    after = key.map((column) => cellOf(last, column, false));
  }
  const [count] = await to.query(`SELECT COUNT(*) AS count FROM ${name}`);
  if (count === undefined || number(count, "count") !== copied) {
    throw new GatewayError("internal", `${name} has a different number of rows in the target, so nothing was copied.`);
  }
  return copied;
}

/** As PostgreSQL can store it, or unchanged. */
function cellOf(row: StoredRow, column: string, forTarget = true): Parameter {
  const value = row[column];
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return forTarget ? postgresText(value.toWellFormed()) : value;
  if (typeof value === "number" || value instanceof Uint8Array) return value;
  return typeof value === "bigint" ? Number(value) : String(value);
}

function compareRows({ name, columns, key }: Table, rows: readonly StoredRow[], kept: readonly StoredRow[]): void {
  const keyOf = (row: StoredRow) => JSON.stringify(key.map((column) => shown(row, column)));
  const found = new Map(kept.map((row) => [keyOf(row), row]));
  for (const row of rows) {
    const other = found.get(keyOf(row));
    const different = other && columns.find((column) => shown(row, column) !== shown(other, column));
    if (other !== undefined && different === undefined) continue;
    const what = other === undefined ? "is missing" : `differs in ${different}`;
    throw new GatewayError(
      "internal",
      `A row of ${name}, ${keyOf(row)}, ${what} in the target, so nothing was copied.`,
    );
  }
}

/** The same text for the same value, whatever type an engine returns. */
function shown(row: StoredRow, column: string): string {
  const value = cellOf(row, column);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return value === null ? "NULL" : `=${value}`;
}
