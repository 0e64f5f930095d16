import { describe, expect, test } from "bun:test";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import type { Storage } from "../src/storage/storage.ts";
import { openMemoryStorage } from "./memory-storage.ts";

/** Every part of the tables with its statement, and every row. */
async function contents(storage: Storage): Promise<object> {
  const parts = await storage.query("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name");
  const rows: Record<string, unknown> = {};
  for (const { name } of parts.filter(({ type }) => type === "table")) {
    rows[String(name)] = (await storage.query(`SELECT * FROM ${name}`)).map(({ applied_at_ms: _, ...row }) => row);
  }
  return { parts, rows };
}

describe("a database in memory of the tests", () => {
  test("has the tables, indexes, triggers and rows that the migrations leave", async () => {
    const [quick, migrated] = [
      await openMemoryStorage(system.clock),
      await openStorage("sqlite::memory:", system.clock),
    ];
    expect(await contents(quick)).toEqual(await contents(migrated));
    await Promise.all([quick.close(), migrated.close()]);
  });
});
