import type { Migration } from "./migration.ts";

/**
 * Which change of keys and projects a row had last, by their counter: a running gateway reads what has changed, and no more. Rows that an
 * earlier program writes keep their number; the counter then says that something is missing, and all is read.
 */
export const keyChanges: Migration = {
  version: 29,
  name: "key changes",
  statements: ["api_keys", "projects"].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN change_number BIGINT NOT NULL DEFAULT 0`,
    `CREATE INDEX ${table}_by_change ON ${table} (change_number)`,
  ]),
};
