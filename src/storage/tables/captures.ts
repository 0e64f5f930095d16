import { bytes, number, text } from "../columns.ts";
import type { Parameter, Queries, Storage } from "../storage.ts";

/** The stored bodies of one call. */
export interface StoredCapture {
  receiptId: string;
  project: string;
  keyId: string;
  createdAtMs: number;
  /** Sealed. */
  bodies: Uint8Array;
}

/** Inserts at most one for each receipt. Returns their size. */
export async function insertCaptures(storage: Storage, captures: readonly StoredCapture[]): Promise<number> {
  await storage.runForEach(
    `INSERT INTO captures (receipt_id, project, key_id, created_at_ms, size, bodies) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (receipt_id) DO NOTHING`,
    captures.map(({ receiptId, project, keyId, createdAtMs, bodies }) => [
      receiptId,
      project,
      keyId,
      createdAtMs,
      bodies.length,
      bodies,
    ]),
  );
  return captures.reduce((sum, { bodies }) => sum + bodies.length, 0);
}

/** Undefined if there is none, or only an older one. */
export async function selectCapture(
  queries: Queries,
  receiptId: string,
  sinceMs: number,
): Promise<StoredCapture | undefined> {
  const [row] = await queries.query(
    "SELECT receipt_id, project, key_id, created_at_ms, bodies FROM captures WHERE receipt_id = ? AND created_at_ms >= ?",
    [receiptId, Math.floor(sinceMs)],
  );
  return (
    row && {
      receiptId: text(row, "receipt_id"),
      project: text(row, "project"),
      keyId: text(row, "key_id"),
      createdAtMs: number(row, "created_at_ms"),
      bodies: bytes(row, "bodies"),
    }
  );
}

/** A stored capture without its bodies. */
export interface CaptureHead {
  receiptId: string;
  createdAtMs: number;
  size: number;
}

interface CaptureRange {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** Only older ones than this receipt's. */
  after?: { createdAtMs: number; receiptId: string } | undefined;
  project?: string | undefined;
  keyId?: string | undefined;
  limit: number;
}

/** Newest first. */
export async function selectCaptureHeads(
  queries: Queries,
  { sinceMs, untilMs, after, project, keyId, limit }: CaptureRange,
): Promise<CaptureHead[]> {
  const conditions: [string, Parameter[]][] = [
    ["created_at_ms >= ? AND created_at_ms < ?", [Math.floor(sinceMs), Math.ceil(untilMs)]],
    ...(project === undefined ? [] : [["project = ?", [project]] as [string, Parameter[]]]),
    ...(keyId === undefined ? [] : [["key_id = ?", [keyId]] as [string, Parameter[]]]),
  ];
  if (after !== undefined)
    conditions.push([
      "created_at_ms <= ? AND (created_at_ms < ? OR receipt_id < ?)",
      [after.createdAtMs, after.createdAtMs, after.receiptId],
    ]);
  const rows = await queries.query(
    `SELECT receipt_id, created_at_ms, size FROM captures WHERE ${conditions.map(([text]) => text).join(" AND ")}
     ORDER BY created_at_ms DESC, receipt_id DESC LIMIT ?`,
    [...conditions.flatMap(([, parameters]) => parameters), limit],
  );
  return rows.map((row) => ({
    receiptId: text(row, "receipt_id"),
    createdAtMs: number(row, "created_at_ms"),
    size: number(row, "size"),
  }));
}

/** When the call of a capture began; undefined if there is none. */
export async function selectCaptureTime(queries: Queries, receiptId: string): Promise<number | undefined> {
  const [row] = await queries.query("SELECT created_at_ms FROM captures WHERE receipt_id = ?", [receiptId]);
  return row === undefined ? undefined : number(row, "created_at_ms");
}

export async function hasCapture(queries: Queries, receiptId: string, sinceMs: number): Promise<boolean> {
  const rows = await queries.query("SELECT 1 AS one FROM captures WHERE receipt_id = ? AND created_at_ms >= ?", [
    receiptId,
    Math.floor(sinceMs),
  ]);
  return rows.length === 1;
}

export async function deleteCapturesBefore(queries: Queries, beforeMs: number, limit: number): Promise<number> {
  const rows = await queries.query(
    `DELETE FROM captures WHERE receipt_id IN (
       SELECT receipt_id FROM captures WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?) RETURNING size`,
    [Math.floor(beforeMs), limit],
  );
  return rows.length;
}

/** Returns the size of the deleted ones; 0 if none was left. */
export async function deleteOldestCaptures(queries: Queries, limit: number): Promise<number> {
  const rows = await queries.query(
    `DELETE FROM captures WHERE receipt_id IN (
       SELECT receipt_id FROM captures ORDER BY created_at_ms LIMIT ?) RETURNING size`,
    [limit],
  );
  return rows.reduce((sum, row) => sum + number(row, "size"), 0);
}

/** The size of all of them. */
export async function sumCaptureSizes(queries: Queries): Promise<number> {
  const [row] = await queries.query("SELECT CAST(SUM(size) AS BIGINT) AS total FROM captures");
  return row === undefined ? 0 : number(row, "total");
}
