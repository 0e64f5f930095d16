import type { Clock } from "../src/base/clock.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import type { Parameter, Storage } from "../src/storage/storage.ts";

/** A database as the migrations leave it. */
interface MadeTables {
  tables: readonly string[];
  rows: readonly (readonly [statement: string, values: readonly Parameter[]])[];
  /** Indexes and triggers, which must not see the rows come. */
  others: readonly string[];
}

let made: Promise<MadeTables> | undefined;

/**
 * An empty database in memory. Its tables are made as they are at last: the migrations that lead there take four times as long, and
 * thousands of tests begin with a new database.
 */
export async function openMemoryStorage(clock: Clock): Promise<Storage> {
  made ??= readMadeTables();
  const { tables, rows, others } = await made;
  const storage = await openStorage("sqlite::memory:", clock, undefined, { migrations: [] });
  await storage.transaction(async ({ query }) => {
    for (const statement of tables) await query(statement);
    for (const [statement, values] of rows) await query(statement, values);
    for (const statement of others) await query(statement);
  });
  return storage;
}

async function readMadeTables(): Promise<MadeTables> {
  const migrated = await openStorage("sqlite::memory:", system.clock);
  try {
    const parts = await migrated.query(
      "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
    );
    const tables = parts.filter(({ type }) => type === "table");
    const rows: [string, Parameter[]][] = [];
    for (const { name } of tables) {
      for (const row of await migrated.query(`SELECT * FROM ${name}`)) {
        const columns = Object.keys(row);
        const places = columns.map(() => "?").join(", ");
        rows.push([
          `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${places})`,
          Object.values(row) as Parameter[],
        ]);
      }
    }
    return {
      tables: tables.map(({ sql }) => String(sql)),
      rows,
      others: parts.filter(({ type }) => type !== "table").map(({ sql }) => String(sql)),
    };
  } finally {
    await migrated.close();
  }
}
