import { Database } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";

/** Makes one consistent copy of a database that may be in use, including its write-ahead log. */
export function copySqlite(from: string, to: string): void {
  // No other user may read it, from the first byte on (S09).
  closeSync(openSync(to, "wx", 0o600));
  const database = new Database(from, { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 30000");
    database.run("VACUUM INTO ?", [to]);
  } finally {
    database.close();
  }
}

/** Why a file is not a sound database; undefined if it is one. */
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
