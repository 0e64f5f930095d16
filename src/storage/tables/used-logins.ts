import type { Queries } from "../storage.ts";

/**
 * Marks a login as used, and forgets those that have expired. False if it was used before: of two concurrent attempts, at any
 * instance, only one succeeds.
 */
export async function takeLogin(
  queries: Queries,
  login: { hash: string; expiresAtMs: number },
  nowMs: number,
): Promise<boolean> {
  await queries.query("DELETE FROM used_logins WHERE expires_at_ms < ?", [nowMs]);
  const inserted = await queries.query(
    "INSERT INTO used_logins (hash, expires_at_ms) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING RETURNING hash",
    [login.hash, login.expiresAtMs],
  );
  return inserted.length > 0;
}
