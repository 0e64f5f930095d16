import { Database } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";

/** One consistent copy of a database, which may be in use: what is in its write-ahead log is in it too. */
export function copySqlite(from: string, to: string): void {
  // No other user may read it, from its first byte on (S09).
  closeSync(openSync(to, "wx", 0o600));
  const database = new Database(from, { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 30000");
    database.run("VACUUM INTO ?", [to]);
  } finally {
    database.close();
  }
}

/** Why a file is no sound database; undefined where it is one. */
export function damageOf(file: string): string | undefined {
  let database: Database | undefined;
  try {
    database = new Database(file, { readonly: true });
    const row = database.query("PRAGMA integrity_check").get() as { integrity_check: string } | null;
    return row?.integrity_check === "ok" ? undefined : (row?.integrity_check ?? "it cannot be checked");
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    database?.close();
  }
}
