import { bytes, number } from "../columns.ts";
import type { Queries, Storage } from "../storage.ts";

/** A response that answers requests with the same digest. */
export interface StoredCachedAnswer {
  project: string;
  digest: string;
  storedAtMs: number;
  expiresAtMs: number;
  /** Sealed. */
  content: Uint8Array;
}

/** What a project has stored. */
export interface CachedAnswerSums {
  entries: number;
  bytes: number;
  /** Undefined if it has none. */
  oldestMs: number | undefined;
}

/** What a row takes besides its content, so that small ones are limited too. */
const ROW_BYTES = 256;
/** The most that are deleted to make room for one. */
const MAX_EVICTED = 32;

export const cachedAnswerSize = (content: Uint8Array): number => content.length + ROW_BYTES;

/** Undefined if there is none, or only an expired one. */
export async function selectCachedAnswer(
  queries: Queries,
  { project, digest }: Pick<StoredCachedAnswer, "project" | "digest">,
  nowMs: number,
): Promise<StoredCachedAnswer | undefined> {
  const [row] = await queries.query(
    "SELECT stored_at_ms, expires_at_ms, content FROM cached_answers WHERE project = ? AND digest = ? AND expires_at_ms > ?",
    [project, digest, Math.floor(nowMs)],
  );
  return (
    row && {
      project,
      digest,
      storedAtMs: number(row, "stored_at_ms"),
      expiresAtMs: number(row, "expires_at_ms"),
      content: bytes(row, "content"),
    }
  );
}

/**
 * Replaces the response with the same digest, and deletes the oldest of the project until all take at most `maxBytes`. It is not stored
 * if more would have to be deleted than one call may. Returns how many were deleted, and whether it was stored.
 */
export async function insertCachedAnswer(
  storage: Storage,
  answer: StoredCachedAnswer,
  maxBytes: number,
): Promise<{ isStored: boolean; evicted: number }> {
  const size = cachedAnswerSize(answer.content);
  const { project, digest, storedAtMs, expiresAtMs, content } = answer;
  return storage.transaction(async (queries) => {
    // Locks the project's row, so that processes that store at once add up the same sums.
    await queries.query(
      `INSERT INTO cached_answer_sums (project, entries, bytes) VALUES (?, 0, 0)
       ON CONFLICT (project) DO UPDATE SET entries = cached_answer_sums.entries`,
      [project],
    );
    const [sums] = await queries.query("SELECT bytes FROM cached_answer_sums WHERE project = ?", [project]);
    const [before] = await queries.query("SELECT size FROM cached_answers WHERE project = ? AND digest = ?", [
      project,
      digest,
    ]);
    const replaced = before === undefined ? 0 : number(before, "size");
    const held = sums === undefined ? 0 : number(sums, "bytes");
    const oldest =
      held - replaced + size <= maxBytes ? [] : await selectOldest(queries, { project, digest }, MAX_EVICTED);
    let freed = 0;
    const evicted: string[] = [];
    for (const one of oldest) {
      if (held - replaced - freed + size <= maxBytes) break;
      freed += one.size;
      evicted.push(one.digest);
    }
    const fits = held - replaced - freed + size <= maxBytes;
    for (const one of evicted) {
      await queries.query("DELETE FROM cached_answers WHERE project = ? AND digest = ?", [project, one]);
    }
    if (fits) {
      await queries.query(
        `INSERT INTO cached_answers (project, digest, size, stored_at_ms, expires_at_ms, content) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (project, digest) DO UPDATE SET size = excluded.size, stored_at_ms = excluded.stored_at_ms,
           expires_at_ms = excluded.expires_at_ms, content = excluded.content`,
        [project, digest, size, Math.floor(storedAtMs), Math.floor(expiresAtMs), content],
      );
    }
    const added = fits ? { entries: before === undefined ? 1 : 0, bytes: size - replaced } : { entries: 0, bytes: 0 };
    await addToSums(queries, project, { entries: added.entries - evicted.length, bytes: added.bytes - freed });
    return { isStored: fits, evicted: evicted.length };
  });
}

async function selectOldest(
  queries: Queries,
  { project, digest }: Pick<StoredCachedAnswer, "project" | "digest">,
  limit: number,
): Promise<{ digest: string; size: number }[]> {
  const rows = await queries.query(
    "SELECT digest, size FROM cached_answers WHERE project = ? AND digest <> ? ORDER BY stored_at_ms LIMIT ?",
    [project, digest, limit],
  );
  return rows.map((row) => ({ digest: String(row["digest"]), size: number(row, "size") }));
}

const addToSums = (queries: Queries, project: string, by: Pick<CachedAnswerSums, "entries" | "bytes">) =>
  queries.query("UPDATE cached_answer_sums SET entries = entries + ?, bytes = bytes + ? WHERE project = ?", [
    by.entries,
    by.bytes,
    project,
  ]);

/** Returns how many were deleted. */
export function deleteExpiredCachedAnswers(storage: Storage, nowMs: number, limit: number): Promise<number> {
  return deleteSome(
    storage,
    `SELECT project, digest FROM cached_answers WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ${limit}`,
    [Math.floor(nowMs)],
  );
}

/** Returns how many were deleted. */
export function deleteCachedAnswers(storage: Storage, project: string, limit: number): Promise<number> {
  return deleteSome(
    storage,
    `SELECT project, digest FROM cached_answers WHERE project = ? ORDER BY stored_at_ms LIMIT ${limit}`,
    [project],
  );
}

async function deleteSome(
  storage: Storage,
  selected: string,
  parameters: readonly (string | number)[],
): Promise<number> {
  return storage.transaction(async (queries) => {
    const found = await queries.query(selected, parameters);
    const projects = [...new Set(found.map((row) => String(row["project"])))].sort();
    // In the order in which storing locks them: first the project's row.
    for (const project of projects) {
      await queries.query("UPDATE cached_answer_sums SET entries = entries WHERE project = ?", [project]);
    }
    const sums = new Map<string, { entries: number; bytes: number }>();
    let deleted = 0;
    for (const row of found) {
      const project = String(row["project"]);
      const [gone] = await queries.query("DELETE FROM cached_answers WHERE project = ? AND digest = ? RETURNING size", [
        project,
        String(row["digest"]),
      ]);
      if (gone === undefined) continue;
      deleted++;
      const sum = sums.get(project) ?? { entries: 0, bytes: 0 };
      sums.set(project, { entries: sum.entries - 1, bytes: sum.bytes - number(gone, "size") });
    }
    for (const [project, sum] of sums) await addToSums(queries, project, sum);
    return deleted;
  });
}

export async function sumCachedAnswers(queries: Queries, project: string): Promise<CachedAnswerSums> {
  const [sums] = await queries.query("SELECT entries, bytes FROM cached_answer_sums WHERE project = ?", [project]);
  const [oldest] = await queries.query(
    "SELECT stored_at_ms FROM cached_answers WHERE project = ? ORDER BY stored_at_ms LIMIT 1",
    [project],
  );
  return {
    entries: sums === undefined ? 0 : number(sums, "entries"),
    bytes: sums === undefined ? 0 : number(sums, "bytes"),
    oldestMs: oldest === undefined ? undefined : number(oldest, "stored_at_ms"),
  };
}

/** Of all projects. */
export async function totalCachedAnswers(queries: Queries): Promise<Pick<CachedAnswerSums, "entries" | "bytes">> {
  const [row] = await queries.query(
    "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT) AS entries, CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes FROM cached_answer_sums",
  );
  return row === undefined
    ? { entries: 0, bytes: 0 }
    : { entries: number(row, "entries"), bytes: number(row, "bytes") };
}
