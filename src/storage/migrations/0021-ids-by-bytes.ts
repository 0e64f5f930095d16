import type { Migration } from "./migration.ts";

/**
 * The ids of receipts are compared byte by byte, as SQLite does: pages, exports and retention ask for ranges of them. By the rules of
 * a language, which many PostgreSQL databases are made with, nothing lies in those ranges.
 */
export const idsByBytes: Migration = {
  version: 21,
  name: "ids-by-bytes",
  statements: [
    (engine) => (engine === "postgres" ? 'ALTER TABLE receipts ALTER COLUMN id TYPE TEXT COLLATE "C"' : "SELECT 1"),
  ],
};
