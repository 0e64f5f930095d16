import { text } from "../columns.ts";
import type { Queries } from "../storage.ts";

export async function readSetting(queries: Queries, name: string): Promise<string | undefined> {
  const [row] = await queries.query("SELECT value FROM settings WHERE name = ?", [name]);
  return row === undefined ? undefined : text(row, "value");
}

export async function writeSetting(queries: Queries, name: string, value: string): Promise<void> {
  await queries.query(
    "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}

/**
 * Writes the setting if there is none, and returns the stored value. If two processes start for the first time
 * together, one sees its own value and the other sees that it was second.
 */
export async function claimSetting(queries: Queries, name: string, value: string): Promise<string> {
  await queries.query("INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [name, value]);
  return (await readSetting(queries, name)) ?? value;
}

/** Replaces a value that nobody else has replaced. Returns whether it was still there. */
export async function replaceSetting(
  queries: Queries,
  name: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const rows = await queries.query("UPDATE settings SET value = ? WHERE name = ? AND value = ? RETURNING name", [
    to,
    name,
    from,
  ]);
  return rows.length > 0;
}
