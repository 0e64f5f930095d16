import { number, text } from "../columns.ts";
import type { Queries } from "../storage.ts";

export interface StoredLiveSecret {
  /** SHA-256 of the secret. */
  hash: string;
  /** The key that made it, to which its sessions belong. */
  keyId: string;
  /** The name of the only model that it opens. */
  model: string;
  /** The settings of its sessions, sealed, in base64. */
  session: string;
  expiresAtMs: number;
}

/** Also deletes expired secrets. False if the key has too many that are valid. */
export async function insertLiveSecret(
  queries: Queries,
  { hash, keyId, model, session, expiresAtMs }: StoredLiveSecret,
  { nowMs, most }: { nowMs: number; most: number },
): Promise<boolean> {
  await queries.query("DELETE FROM live_secrets WHERE expires_at_ms <= ?", [nowMs]);
  const [row] = await queries.query("SELECT COUNT(*) AS valid FROM live_secrets WHERE key_id = ?", [keyId]);
  if (row !== undefined && number(row, "valid") >= most) return false;
  await queries.query("INSERT INTO live_secrets (hash, key_id, model, session, expires_at_ms) VALUES (?, ?, ?, ?, ?)", [
    hash,
    keyId,
    model,
    session,
    expiresAtMs,
  ]);
  return true;
}

export async function selectLiveSecret(
  queries: Queries,
  hash: string,
  nowMs: number,
): Promise<StoredLiveSecret | undefined> {
  const [row] = await queries.query("SELECT * FROM live_secrets WHERE hash = ? AND expires_at_ms > ?", [hash, nowMs]);
  if (row === undefined) return undefined;
  return {
    hash,
    keyId: text(row, "key_id"),
    model: text(row, "model"),
    session: text(row, "session"),
    expiresAtMs: number(row, "expires_at_ms"),
  };
}
