import type { Migration } from "./migration.ts";

/**
 * Bodies of the calls of keys whose policy it is to keep them, encrypted. Apart from receipts: they are larger, and live for less
 * long.
 */
export const captures: Migration = {
  version: 25,
  name: "captures",
  statements: [
    (engine) => `CREATE TABLE captures (
      receipt_id TEXT PRIMARY KEY,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      size BIGINT NOT NULL,
      bodies ${engine === "postgres" ? "BYTEA" : "BLOB"} NOT NULL
    )`,
    // Sums of sizes read the index alone.
    "CREATE INDEX captures_by_time ON captures (created_at_ms, size)",
    "ALTER TABLE api_keys ADD COLUMN capture INTEGER NOT NULL DEFAULT 0",
  ],
};
