import type { Migration } from "./migration.ts";

/**
 * The ids of receipts begin with their time, so that a time's rows lie together in the tree of the primary key: in SQLite a
 * second tree cost a fifth of each row's writing and found nothing that the first does not.
 */
export const receiptsInOrder: Migration = {
  version: 3,
  name: "receipts-in-order",
  statements: [(engine) => (engine === "sqlite" ? "DROP INDEX receipts_by_project" : "SELECT 1")],
};
