import type { Migration, Statement } from "./migration.ts";

const APPEND_ONLY = "the audit log is append-only";

/** Whoever can write to the tables by the gateway's own connection cannot change what was recorded. */
const appendOnly = (change: "UPDATE" | "DELETE"): Statement => {
  const name = `audit_no_${change.toLowerCase()}`;
  return (engine) =>
    engine === "sqlite"
      ? `CREATE TRIGGER ${name} BEFORE ${change} ON audit BEGIN SELECT RAISE(ABORT, '${APPEND_ONLY}'); END`
      : `CREATE TRIGGER ${name} BEFORE ${change} ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`;
};

/**
 * A project's name so far becomes its id, which receipts, operations and files have; the name beside it may change. Of a key:
 * where it may come from, what else it may do, its secret before the last rotation, and when it was last used. The audit log has
 * one row for each administrative act.
 */
export const accounts: Migration = {
  version: 16,
  name: "accounts",
  statements: [
    "ALTER TABLE projects RENAME COLUMN name TO id",
    "ALTER TABLE projects ADD COLUMN name TEXT NOT NULL DEFAULT ''",
    "UPDATE projects SET name = id",
    "ALTER TABLE projects ADD COLUMN limits TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE projects ADD COLUMN discounts TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE projects ADD COLUMN status TEXT NOT NULL DEFAULT 'active'",
    "ALTER TABLE api_keys ADD COLUMN networks TEXT",
    "ALTER TABLE api_keys ADD COLUMN scopes TEXT",
    "ALTER TABLE api_keys ADD COLUMN previous_hash TEXT",
    "ALTER TABLE api_keys ADD COLUMN previous_until_ms BIGINT",
    "ALTER TABLE api_keys ADD COLUMN rotated_at_ms BIGINT",
    "ALTER TABLE api_keys ADD COLUMN last_used_at_ms BIGINT",
    "CREATE INDEX api_keys_by_maker ON api_keys (made_by)",
    `CREATE TABLE audit (
      id TEXT PRIMARY KEY,
      at_ms BIGINT NOT NULL,
      who TEXT NOT NULL,
      address TEXT,
      act TEXT NOT NULL,
      target TEXT NOT NULL,
      project TEXT,
      before_act TEXT,
      after_act TEXT
    )`,
    "CREATE INDEX audit_by_target ON audit (target, id)",
    (engine) =>
      engine === "sqlite"
        ? "SELECT 1"
        : `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${APPEND_ONLY}'; END $$`,
    appendOnly("UPDATE"),
    appendOnly("DELETE"),
  ],
};
