import type { Migration } from "./migration.ts";

/** What keys have used without a known price, and what a request for something of that kind comes to. */
export const unpriced: Migration = {
  version: 28,
  name: "unpriced",
  statements: [
    `CREATE TABLE unpriced_uses (
      key_id TEXT NOT NULL,
      name TEXT NOT NULL,
      produced_by TEXT NOT NULL,
      project TEXT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      receipt_id TEXT NOT NULL,
      calls BIGINT NOT NULL,
      first_at_ms BIGINT NOT NULL,
      last_at_ms BIGINT NOT NULL,
      PRIMARY KEY (key_id, name, produced_by)
    )`,
    "CREATE INDEX unpriced_uses_by_time ON unpriced_uses (last_at_ms)",
    "ALTER TABLE api_keys ADD COLUMN unpriced TEXT",
    "ALTER TABLE projects ADD COLUMN unpriced TEXT",
  ],
};
