import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import { RECEIPT_COLUMNS, readReceipt } from "../receipts/receipt-columns.ts";
import { type Queries, REPORT_MS, type Storage, type StoredRow } from "../storage.ts";

/** How far an export is, as all instances see it. */
export interface StoredExport {
  name: string;
  /** Receipts with smaller ids that are stored from now on are late. */
  untilId: string;
  /** Receipts with smaller ids are exported, unless they are late. */
  nextId: string;
  dueAtMs: number;
  /** Every receipt that was stored by then is exported; 0 before the first run. */
  coveredUntilMs: number;
  rows: number;
  files: number;
  lastFile?: { name: string; atMs: number; rows: number };
  /** Runs that failed since the last one that did not. */
  failures: number;
  failingSinceMs?: number;
  error?: string;
  leaseUntilMs: number;
}

interface Held {
  name: string;
  owner: string;
}

const COLUMNS = `name, until_id, next_id, due_at_ms, covered_until_ms, exported_rows, files, last_file, last_file_at_ms,
  last_file_rows, failures, failing_since_ms, error, lease_until_ms`;
const RECEIPTS = RECEIPT_COLUMNS.map((column) => column.name).join(", ");
const TRIGGER = "receipts_late_for_export";
/** Statements with more parameters are rejected, and long ones hold up others. */
const IDS_AT_ONCE = 500;

/**
 * Adds the exports that are new, from the first receipt on, and notes that all of them are in use. From the first export on,
 * PostgreSQL notes late receipts.
 */
export async function keepExports(storage: Storage, names: readonly string[], nowMs: number): Promise<void> {
  const now = Math.floor(nowMs);
  await storage.transaction(async (queries) => {
    if (storage.engine === "postgres") await noteLateReceipts(queries, true);
    for (const name of names) {
      await queries.query(
        `INSERT INTO exports (name, until_id, next_id, due_at_ms, seen_at_ms, covered_until_ms, exported_rows, files, failures, lease_until_ms)
         VALUES (?, '', '', ?, ?, 0, 0, 0, 0, 0) ON CONFLICT (name) DO UPDATE SET seen_at_ms = excluded.seen_at_ms`,
        [name, now, now],
      );
    }
  });
}

/** Forgets exports that no instance has had in its configuration for a while: receipts are no longer kept for them. */
export async function forgetExports(storage: Storage, seenBeforeMs: number): Promise<string[]> {
  const [old] = await storage.query("SELECT name FROM exports WHERE seen_at_ms < ? LIMIT 1", [seenBeforeMs]);
  if (old === undefined) return [];
  return await storage.transaction(async (queries) => {
    const rows = await queries.query("DELETE FROM exports WHERE seen_at_ms < ? RETURNING name", [seenBeforeMs]);
    await queries.query("DELETE FROM export_late WHERE export NOT IN (SELECT name FROM exports)");
    const [left] = await queries.query("SELECT name FROM exports LIMIT 1");
    if (left === undefined && storage.engine === "postgres") await noteLateReceipts(queries, false);
    return rows.map((row) => text(row, "name"));
  });
}

/** Changing a trigger waits for writers and makes others wait, so it is only done if needed. */
async function noteLateReceipts(queries: Queries, isWanted: boolean): Promise<void> {
  const [row] = await queries.query(
    "SELECT tgenabled AS state FROM pg_trigger WHERE tgname = ? AND tgrelid = CAST('receipts' AS regclass)",
    [TRIGGER],
  );
  const isEnabled = row !== undefined && text(row, "state") !== "D";
  if (isEnabled !== isWanted)
    await queries.query(`ALTER TABLE receipts ${isWanted ? "ENABLE" : "DISABLE"} TRIGGER ${TRIGGER}`);
}

export async function selectExports(queries: Queries): Promise<StoredExport[]> {
  return (await queries.query(`SELECT ${COLUMNS} FROM exports ORDER BY name`)).map(readExport);
}

function readExport(row: StoredRow): StoredExport {
  const lastFile = optionalText(row, "last_file");
  const failingSinceMs = optionalNumber(row, "failing_since_ms");
  const error = optionalText(row, "error");
  return {
    name: text(row, "name"),
    untilId: text(row, "until_id"),
    nextId: text(row, "next_id"),
    dueAtMs: number(row, "due_at_ms"),
    coveredUntilMs: number(row, "covered_until_ms"),
    rows: number(row, "exported_rows"),
    files: number(row, "files"),
    ...(lastFile === undefined
      ? {}
      : { lastFile: { name: lastFile, atMs: number(row, "last_file_at_ms"), rows: number(row, "last_file_rows") } }),
    failures: number(row, "failures"),
    ...(failingSinceMs === undefined ? {} : { failingSinceMs }),
    ...(error === undefined ? {} : { error }),
    leaseUntilMs: number(row, "lease_until_ms"),
  };
}

/** What an export is due at that is wanted at once. A run that ends leaves it, so that one follows that begins after the wish. */
const AT_ONCE = 0;

/** Makes it due now, also if a process works on it. */
export async function hastenExport(queries: Queries, name: string): Promise<void> {
  await queries.query(`UPDATE exports SET due_at_ms = ${AT_ONCE} WHERE name = ?`, [name]);
}

const MAX_MS = 8_640_000_000_000_000;

/**
 * Takes a due export that no other process works on. Undefined if there is nothing to do. After the clock was set back, due times and
 * leases that are too far ahead are no longer true.
 */
export async function leaseExport(
  queries: Queries,
  { name, owner }: Held,
  { nowMs, leaseUntilMs, latestDueMs = MAX_MS }: { nowMs: number; leaseUntilMs: number; latestDueMs?: number },
): Promise<StoredExport | undefined> {
  const now = Math.floor(nowMs);
  const [row] = await queries.query(
    `UPDATE exports SET lease_owner = ?, lease_until_ms = ?, seen_at_ms = ?, due_at_ms = ?
     WHERE name = ? AND (due_at_ms <= ? OR due_at_ms > ?) AND (lease_until_ms <= ? OR lease_until_ms > ?)
     RETURNING ${COLUMNS}`,
    [owner, Math.ceil(leaseUntilMs), now, now, name, now, latestDueMs, now, Math.ceil(2 * leaseUntilMs - now)],
  );
  return row === undefined ? undefined : readExport(row);
}

/** False if another process has taken it over. */
export async function renewExport(queries: Queries, { name, owner }: Held, leaseUntilMs: number): Promise<boolean> {
  const rows = await queries.query(
    "UPDATE exports SET lease_until_ms = ? WHERE name = ? AND lease_owner = ? RETURNING name",
    [Math.ceil(leaseUntilMs), name, owner],
  );
  return rows.length > 0;
}

/** Moves the mark behind which receipts are late, never back, and returns where it is. Undefined if the lease is lost. */
export async function markExport(
  queries: Queries,
  { name, owner }: Held,
  untilId: string,
): Promise<string | undefined> {
  const [row] = await queries.query(
    `UPDATE exports SET until_id = CASE WHEN until_id < ? THEN ? ELSE until_id END WHERE name = ? AND lease_owner = ?
     RETURNING until_id`,
    [untilId, untilId, name, owner],
  );
  return row === undefined ? undefined : text(row, "until_id");
}

/**
 * The transactions that may have stored receipts without knowing the mark: those that were writing receipts when it was set.
 * SQLite has one writer at a time, so there are none.
 */
export async function selectReceiptWriters(storage: Storage): Promise<Set<string>> {
  if (storage.engine === "sqlite") return new Set();
  const rows = await storage.query(
    `SELECT DISTINCT virtualtransaction AS writer FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'
     AND granted AND relation = CAST('receipts' AS regclass)
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return new Set(rows.map((row) => text(row, "writer")));
}

/** Late receipts, by id. */
export async function selectLateReceipts(
  storage: Storage,
  name: string,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<Receipt[]> {
  const rows = await storage.query(
    `SELECT ${RECEIPTS} FROM receipts
     WHERE id IN (SELECT id FROM export_late WHERE export = ? AND id > ? ORDER BY id LIMIT ?) ORDER BY id`,
    [name, afterId, limit],
    REPORT_MS,
  );
  return rows.map(readReceipt);
}

/** The receipts of a range of ids that are not late. */
export async function selectReceiptsToExport(
  storage: Storage,
  name: string,
  { fromId, untilId, limit }: { fromId: string; untilId: string; limit: number },
): Promise<Receipt[]> {
  const rows = await storage.query(
    `SELECT ${RECEIPTS} FROM receipts WHERE id >= ? AND id < ? AND id NOT IN (SELECT id FROM export_late WHERE export = ?)
     ORDER BY id LIMIT ?`,
    [fromId, untilId, name, limit],
    REPORT_MS,
  );
  return rows.map(readReceipt);
}

/** A file that everybody can see now. */
export interface ExportedFile {
  name: string;
  atMs: number;
  rows: number;
  /** Receipts with smaller ids are exported. */
  nextId: string;
  /** The late receipts in it. */
  lateIds: readonly string[];
}

/** Notes what a file contains. False if the lease is lost: another process exports the same receipts again. */
export async function advanceExport(storage: Storage, { name, owner }: Held, file: ExportedFile): Promise<boolean> {
  return await storage.transaction(async (queries) => {
    const rows = await queries.query(
      `UPDATE exports SET next_id = ?, exported_rows = exported_rows + ?, files = files + 1,
         last_file = ?, last_file_at_ms = ?, last_file_rows = ? WHERE name = ? AND lease_owner = ? RETURNING name`,
      [file.nextId, file.rows, file.name, Math.floor(file.atMs), file.rows, name, owner],
    );
    if (rows.length === 0) return false;
    for (let index = 0; index < file.lateIds.length; index += IDS_AT_ONCE) {
      const ids = file.lateIds.slice(index, index + IDS_AT_ONCE);
      await queries.query(`DELETE FROM export_late WHERE export = ? AND id IN (${ids.map(() => "?").join(", ")})`, [
        name,
        ...ids,
      ]);
    }
    return true;
  });
}

const NEXT = `CASE WHEN due_at_ms = ${AT_ONCE} THEN ${AT_ONCE} ELSE ? END`;

/** Ends a run that has exported everything stored before that time, and the lease. */
export async function finishExport(
  queries: Queries,
  { name, owner }: Held,
  { nextId, coveredUntilMs, dueAtMs }: { nextId: string; coveredUntilMs: number; dueAtMs: number },
): Promise<void> {
  await queries.query(
    `UPDATE exports SET next_id = CASE WHEN next_id < ? THEN ? ELSE next_id END, covered_until_ms = ?, due_at_ms = ${NEXT},
       failures = 0, failing_since_ms = NULL, error = NULL, lease_owner = NULL, lease_until_ms = 0
     WHERE name = ? AND lease_owner = ?`,
    [nextId, nextId, Math.floor(coveredUntilMs), Math.ceil(dueAtMs), name, owner],
  );
}

/** Ends a run that failed, and the lease. */
export async function failExport(
  queries: Queries,
  { name, owner }: Held,
  { error, nowMs, dueAtMs }: { error: string; nowMs: number; dueAtMs: number },
): Promise<void> {
  await queries.query(
    `UPDATE exports SET failures = failures + 1, failing_since_ms = COALESCE(failing_since_ms, ?), error = ?, due_at_ms = ${NEXT},
       lease_owner = NULL, lease_until_ms = 0 WHERE name = ? AND lease_owner = ?`,
    [Math.floor(nowMs), error, Math.ceil(dueAtMs), name, owner],
  );
}

/** Ends a lease before the run is complete, so that another process continues at once. */
export async function releaseExport(queries: Queries, { name, owner }: Held): Promise<void> {
  await queries.query("UPDATE exports SET lease_owner = NULL, lease_until_ms = 0 WHERE name = ? AND lease_owner = ?", [
    name,
    owner,
  ]);
}
