import type { Migration } from "./migration.ts";

/**
 * Which receipts are in the sums of hours and days: those whose ids come before `until_id`. In SQLite it follows behind the newest
 * receipts; in PostgreSQL, whose trigger sums up each statement, all are.
 */
export const rolledUp: Migration = {
  version: 20,
  name: "rolled-up",
  statements: [
    (engine) => `CREATE TABLE rolled_up (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      until_id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL
    )`,
    (engine) =>
      engine === "sqlite"
        ? "INSERT INTO rolled_up SELECT 1, COALESCE(MAX(id) || '~', '') FROM receipts"
        : "INSERT INTO rolled_up VALUES (1, '~')",
  ],
};
