import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";

let made: Promise<Uint8Array> | undefined;

/** Makes a database file with every table and no row: a copy, since to run all migrations takes ten times as long. */
export async function writeSqliteTables(file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, await sqliteTables(), { mode: 0o600 });
}

/** The bytes of such a file. */
export function sqliteTables(): Promise<Uint8Array> {
  made ??= makeTables();
  return made;
}

async function makeTables(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-tables-"));
  try {
    const file = join(folder, "tables.db");
    const storage = await openStorage(`sqlite:${file}`, system.clock);
    await storage.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
