import { GatewayError } from "../canon/error.ts";
import { number } from "./columns.ts";
import type { Migration } from "./migrations/migration.ts";
import { MIGRATION_MS, type Queries, type Storage } from "./storage.ts";

/** Any fixed number: it names the lock that lets one PostgreSQL process migrate at a time. */
const MIGRATION_LOCK = 7_481_206;

/** The newest version that this list makes. */
export const latestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0;

/**
 * Brings the tables up to date, with one transaction for each migration; several processes may start at once. Only a
 * start that has migrations to run waits for the others, and may take long. `beforeFirst` runs before tables that exist are
 * changed, and excludes all other writers.
 */
export async function migrate(
  storage: Storage,
  migrations: readonly Migration[],
  nowMs: number,
  beforeFirst: (found: number, target: number) => void = () => {},
): Promise<void> {
  const found = await versionOf(storage);
  const target = latestOf(migrations);
  if (found > target) throw tooNew(found, target);
  if (found === target) return;
  await alone(storage, async (queries) => {
    await queries.query(
      "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms BIGINT NOT NULL)",
    );
    // Read again under the lock: another process may have been first.
    const present = await newestApplied(queries);
    if (present > 0 && present < target) beforeFirst(present, target);
  });
  for (const migration of migrations) {
    if (migration.version > found) await alone(storage, (queries) => apply(queries, migration, storage.engine, nowMs));
  }
}

/** For a program that cannot use the tables, because a newer one has changed them. */
export const tooNew = (found: number, known: number): GatewayError =>
  new GatewayError(
    "internal",
    `The storage was written by a newer Trivium: its tables are at version ${found}, this program knows versions up to ${known}. ` +
      "Run the newer program, return to the data from before the upgrade with its `trivium rollback`, or point `storage` at another database.",
  );

const HAS_MIGRATIONS: Readonly<Record<Storage["engine"], string>> = {
  sqlite: "SELECT COUNT(*) AS count FROM sqlite_master WHERE type = 'table' AND name = 'migrations'",
  postgres: "SELECT COUNT(to_regclass('migrations')) AS count",
};

/** The version of the tables; 0 if there are none. */
export async function versionOf(storage: Storage): Promise<number> {
  const [table] = await storage.query(HAS_MIGRATIONS[storage.engine]);
  return table === undefined || number(table, "count") === 0 ? 0 : newestApplied(storage);
}

async function newestApplied(queries: Queries): Promise<number> {
  const [row] = await queries.query("SELECT COALESCE(MAX(version), 0) AS version FROM migrations");
  return row === undefined ? 0 : number(row, "version");
}

async function apply(queries: Queries, migration: Migration, engine: Storage["engine"], nowMs: number): Promise<void> {
  // Read again under the lock: another process may have been first.
  const applied = await queries.query("SELECT version FROM migrations WHERE version = ?", [migration.version]);
  if (applied.length > 0) return;
  for (const statement of migration.statements) {
    await queries.query(typeof statement === "string" ? statement : statement(engine));
  }
  await queries.query("INSERT INTO migrations (version, name, applied_at_ms) VALUES (?, ?, ?)", [
    migration.version,
    migration.name,
    nowMs,
  ]);
}

/** A transaction that excludes all other processes. SQLite's holds the write lock from its start anyway. */
async function alone(storage: Storage, work: (queries: Queries) => Promise<unknown>): Promise<void> {
  await storage.transaction(async (queries) => {
    if (storage.engine === "postgres") await queries.query("SELECT pg_advisory_xact_lock(?)", [MIGRATION_LOCK]);
    await work(queries);
  }, MIGRATION_MS);
}
