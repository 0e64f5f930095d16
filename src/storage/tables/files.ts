import { number, text } from "../columns.ts";
import type { Queries, Storage, StoredRow } from "../storage.ts";

/** A generated file that is kept for a while; its bytes are in the file store under the same id. */
export interface StoredFile {
  id: string;
  /** The only project that may see it. */
  project: string;
  /** The operation or receipt that it belongs to. */
  ownerId: string;
  mimeType: string;
  size: number;
  createdAtMs: number;
  expiresAtMs: number;
}

const COLUMNS = "id, project, owner_id, mime_type, size, created_at_ms, expires_at_ms";
const TOTAL = "CAST(COALESCE(SUM(size), 0) AS BIGINT)";

interface StoreLimits {
  maxTotalBytes: number;
  maxProjectBytes: number;
}

/**
 * Inserts the row if all files together, and those of its project, stay within their limits, and returns whether it
 * did. Instances that store files at the same moment take turns, so that they cannot all use the same remainder.
 */
export async function insertFile(
  storage: Storage,
  file: StoredFile,
  { maxTotalBytes, maxProjectBytes }: StoreLimits,
): Promise<"kept" | "full" | "project_full"> {
  return await storage.transaction(async (queries) => {
    // SQLite's transaction holds the write lock from its start; here other writers wait, and readers do not.
    if (storage.engine === "postgres") await queries.query("LOCK TABLE files IN SHARE ROW EXCLUSIVE MODE");
    if ((await sumFileSizes(queries)) + file.size > maxTotalBytes) return "full";
    if ((await sumFileSizes(queries, file.project)) + file.size > maxProjectBytes) return "project_full";
    await queries.query(`INSERT INTO files (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`, [
      file.id,
      file.project,
      file.ownerId,
      file.mimeType,
      file.size,
      file.createdAtMs,
      file.expiresAtMs,
    ]);
    return "kept";
  });
}

export async function selectFile(queries: Queries, id: string): Promise<StoredFile | undefined> {
  const [row] = await queries.query(`SELECT ${COLUMNS} FROM files WHERE id = ?`, [id]);
  return row === undefined ? undefined : readFile(row);
}

/** Expired files, longest expired first. */
export async function selectExpiredFiles(queries: Queries, nowMs: number, limit: number): Promise<StoredFile[]> {
  const rows = await queries.query(
    `SELECT ${COLUMNS} FROM files WHERE expires_at_ms <= ? ORDER BY expires_at_ms, id LIMIT ?`,
    [nowMs, limit],
  );
  return rows.map(readFile);
}

/** The ids that have a row. */
export async function selectKnownFiles(queries: Queries, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await queries.query(`SELECT id FROM files WHERE id IN (${placeholders(ids)})`, ids);
  return new Set(rows.map((row) => text(row, "id")));
}

/** Rows that another instance has already deleted are not an error. */
export async function deleteFiles(queries: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await queries.query(`DELETE FROM files WHERE id IN (${placeholders(ids)})`, ids);
}

/** The size of one project's files, or of all. */
export async function sumFileSizes(queries: Queries, project?: string): Promise<number> {
  const [row] =
    project === undefined
      ? await queries.query(`SELECT ${TOTAL} AS total FROM files`)
      : await queries.query(`SELECT ${TOTAL} AS total FROM files WHERE project = ?`, [project]);
  return row === undefined ? 0 : number(row, "total");
}

const placeholders = (ids: readonly string[]): string => ids.map(() => "?").join(", ");

function readFile(row: StoredRow): StoredFile {
  return {
    id: text(row, "id"),
    project: text(row, "project"),
    ownerId: text(row, "owner_id"),
    mimeType: text(row, "mime_type"),
    size: number(row, "size"),
    createdAtMs: number(row, "created_at_ms"),
    expiresAtMs: number(row, "expires_at_ms"),
  };
}
