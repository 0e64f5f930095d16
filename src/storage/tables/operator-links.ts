import { text } from "../columns.ts";
import type { Queries } from "../storage.ts";

interface StoredLink {
  /** SHA-256 of the token. */
  hash: string;
  /** SHA-256 of the secret whose session it opens. */
  secretHash: string;
  expiresAtMs: number;
}

/** Also deletes expired links. */
export async function insertLink(queries: Queries, link: StoredLink, nowMs: number): Promise<void> {
  await queries.query("DELETE FROM operator_links WHERE expires_at_ms < ?", [nowMs]);
  await queries.query("INSERT INTO operator_links (hash, secret_hash, expires_at_ms) VALUES (?, ?, ?)", [
    link.hash,
    link.secretHash,
    link.expiresAtMs,
  ]);
}

/** Uses a link: of two concurrent attempts, only one succeeds. */
export async function takeLink(queries: Queries, hash: string, nowMs: number): Promise<string | undefined> {
  const [row] = await queries.query(
    "DELETE FROM operator_links WHERE hash = ? AND expires_at_ms > ? RETURNING secret_hash",
    [hash, nowMs],
  );
  return row === undefined ? undefined : text(row, "secret_hash");
}
