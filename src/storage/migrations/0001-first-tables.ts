import type { Migration } from "./migration.ts";

/** Only types that SQLite and PostgreSQL both take. Lists and maps that no query looks into are JSON in a TEXT. */
export const firstTables: Migration = {
  version: 1,
  name: "first-tables",
  statements: [
    `CREATE TABLE projects (
      name TEXT PRIMARY KEY,
      created_at_ms BIGINT NOT NULL
    )`,
    `CREATE TABLE api_keys (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      project TEXT NOT NULL REFERENCES projects (name),
      hash TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      models TEXT NOT NULL,
      protocols TEXT,
      limits TEXT NOT NULL,
      expires_at_ms BIGINT,
      created_at_ms BIGINT NOT NULL,
      made_by TEXT,
      revoked_at_ms BIGINT
    )`,
    "CREATE TABLE change_counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    "INSERT INTO change_counters (name, value) VALUES ('keys', 0)",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    // In SQLite the rows lie in the tree of their key: ids grow with time, so a commit touches the last page alone.
    (engine) => `CREATE TABLE receipts (
      id TEXT PRIMARY KEY,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      upstream_model TEXT NOT NULL,
      verb TEXT NOT NULL,
      client_dialect TEXT NOT NULL,
      upstream_dialect TEXT NOT NULL,
      lane TEXT NOT NULL,
      stream INTEGER NOT NULL,
      outcome TEXT NOT NULL,
      stop_unified TEXT,
      stop_raw TEXT,
      usage_input BIGINT,
      usage_cache_read BIGINT,
      usage_cache_write_5m BIGINT,
      usage_cache_write_1h BIGINT,
      usage_output BIGINT,
      usage_reasoning BIGINT,
      usage_images BIGINT,
      usage_seconds DOUBLE PRECISION,
      usage_searches BIGINT,
      usage_source TEXT NOT NULL,
      price_rule TEXT NOT NULL,
      cost_nano_usd BIGINT NOT NULL,
      first_content_ms BIGINT,
      total_ms BIGINT NOT NULL,
      offers TEXT NOT NULL,
      fields TEXT NOT NULL
    )${engine === "sqlite" ? " WITHOUT ROWID" : ""}`,
    "CREATE INDEX receipts_by_project ON receipts (project, created_at_ms)",
  ],
};
