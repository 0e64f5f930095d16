import type { Migration } from "./migration.ts";

/**
 * The prices by which receipts were billed, once for all of them: a cost can be computed again when the catalogue has long changed.
 * `priced_by` is NULL in rows of earlier versions.
 */
export const prices: Migration = {
  version: 14,
  name: "prices",
  statements: [
    "CREATE TABLE prices (id TEXT PRIMARY KEY, content TEXT NOT NULL, first_used_at_ms BIGINT NOT NULL)",
    "ALTER TABLE receipts ADD COLUMN priced_by TEXT",
  ],
};
