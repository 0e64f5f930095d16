import { number, text } from "../columns.ts";
import type { Queries, Storage } from "../storage.ts";

export interface StoredSession {
  /** SHA-256 of the token. */
  hash: string;
  operatorId: string;
  /** SHA-256 of the secret that opened it. */
  secretHash: string;
  createdAtMs: number;
  usedAtMs: number;
}

/** Adds the session; its operator keeps only the newest `most`. Sessions that began before `sinceMs` are deleted. */
export async function insertSession(
  storage: Storage,
  session: StoredSession,
  { most, sinceMs }: { most: number; sinceMs: number },
): Promise<void> {
  await storage.transaction(async (queries) => {
    await queries.query("DELETE FROM operator_sessions WHERE created_at_ms < ?", [sinceMs]);
    await queries.query(
      "INSERT INTO operator_sessions (hash, operator_id, secret_hash, created_at_ms, used_at_ms) VALUES (?, ?, ?, ?, ?)",
      [session.hash, session.operatorId, session.secretHash, session.createdAtMs, session.usedAtMs],
    );
    await queries.query(
      `DELETE FROM operator_sessions WHERE operator_id = ? AND hash NOT IN (
         SELECT hash FROM operator_sessions WHERE operator_id = ? ORDER BY created_at_ms DESC, hash LIMIT ?)`,
      [session.operatorId, session.operatorId, most],
    );
  });
}

export async function selectSession(queries: Queries, hash: string): Promise<StoredSession | undefined> {
  const [row] = await queries.query(
    "SELECT hash, operator_id, secret_hash, created_at_ms, used_at_ms FROM operator_sessions WHERE hash = ?",
    [hash],
  );
  if (row === undefined) return undefined;
  return {
    hash: text(row, "hash"),
    operatorId: text(row, "operator_id"),
    secretHash: text(row, "secret_hash"),
    createdAtMs: number(row, "created_at_ms"),
    usedAtMs: number(row, "used_at_ms"),
  };
}

export async function touchSession(queries: Queries, hash: string, usedAtMs: number): Promise<void> {
  await queries.query("UPDATE operator_sessions SET used_at_ms = ? WHERE hash = ?", [usedAtMs, hash]);
}

export async function deleteSession(queries: Queries, hash: string): Promise<void> {
  await queries.query("DELETE FROM operator_sessions WHERE hash = ?", [hash]);
}
