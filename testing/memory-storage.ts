import { Database } from "bun:sqlite";
import type { Clock } from "../src/base/clock.ts";
import { SqliteStorage } from "../src/storage/sqlite.ts";
import type { Storage } from "../src/storage/storage.ts";
import { sqliteTables } from "./sqlite-tables.ts";

/** Where a file says how it is written and read: 1 for a rollback journal, 2 for a log, which no database in memory has. */
const JOURNALS = [18, 19] as const;
const ROLLBACK = 1;

/**
 * An empty database in memory: a copy of one whose tables are made. To make them takes twice as long, and thousands of tests
 * begin with a new database.
 */
export async function openMemoryStorage(clock: Clock): Promise<Storage> {
  const bytes = Buffer.from(await sqliteTables());
  for (const offset of JOURNALS) bytes[offset] = ROLLBACK;
  return await SqliteStorage.over(Database.deserialize(bytes, { strict: true }), clock);
}
