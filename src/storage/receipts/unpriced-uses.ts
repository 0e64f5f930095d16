import { number, text } from "../columns.ts";
import type { Queries, StoredRow } from "../storage.ts";

/** Something without a known price that a key has used. */
export interface UnpricedUse {
  keyId: string;
  /** What has no price. */
  name: string;
  /** The tool or term of the request that caused it; empty if the request had none. */
  producedBy: string;
  project: string;
  /** Of the last call. */
  model: string;
  provider: string;
  receiptId: string;
  calls: number;
  firstAtMs: number;
  lastAtMs: number;
}

const COLUMNS = "key_id, name, produced_by, project, model, provider, receipt_id, calls, first_at_ms, last_at_ms";

/** Counts one more call. */
export async function countUnpricedUse(queries: Queries, use: Omit<UnpricedUse, "calls" | "firstAtMs">): Promise<void> {
  const atMs = Math.floor(use.lastAtMs);
  await queries.query(
    `INSERT INTO unpriced_uses (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
     ON CONFLICT (key_id, name, produced_by) DO UPDATE SET calls = unpriced_uses.calls + 1, model = excluded.model,
     provider = excluded.provider, receipt_id = excluded.receipt_id, last_at_ms = excluded.last_at_ms`,
    [use.keyId, use.name, use.producedBy, use.project, use.model, use.provider, use.receiptId, atMs, atMs],
  );
}

interface UsesAsked {
  sinceMs: number;
  limit: number;
  /** Only of this project. */
  project?: string | undefined;
}

/** Latest first. */
export async function selectUnpricedUses(
  queries: Queries,
  { sinceMs, limit, project }: UsesAsked,
): Promise<UnpricedUse[]> {
  const since = Math.floor(sinceMs);
  const rows =
    project === undefined
      ? await queries.query(
          `SELECT ${COLUMNS} FROM unpriced_uses WHERE last_at_ms >= ? ORDER BY last_at_ms DESC, key_id, name LIMIT ?`,
          [since, limit],
        )
      : await queries.query(
          `SELECT ${COLUMNS} FROM unpriced_uses WHERE last_at_ms >= ? AND project = ? ORDER BY last_at_ms DESC, key_id, name LIMIT ?`,
          [since, project, limit],
        );
  return rows.map(readUse);
}

const readUse = (row: StoredRow): UnpricedUse => ({
  keyId: text(row, "key_id"),
  name: text(row, "name"),
  producedBy: text(row, "produced_by"),
  project: text(row, "project"),
  model: text(row, "model"),
  provider: text(row, "provider"),
  receiptId: text(row, "receipt_id"),
  calls: number(row, "calls"),
  firstAtMs: number(row, "first_at_ms"),
  lastAtMs: number(row, "last_at_ms"),
});

export async function deleteUnpricedUsesBefore(queries: Queries, beforeMs: number): Promise<void> {
  await queries.query("DELETE FROM unpriced_uses WHERE last_at_ms < ?", [Math.floor(beforeMs)]);
}
