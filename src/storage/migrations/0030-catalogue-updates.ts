import type { Migration } from "./migration.ts";

/** Updates of the catalogue, in the order in which they were applied. A counter tells running gateways that there is a new one. */
export const catalogueUpdates: Migration = {
  version: 30,
  name: "catalogue updates",
  statements: [
    `CREATE TABLE catalogue_updates (
      number BIGINT PRIMARY KEY,
      applied_at_ms BIGINT NOT NULL,
      who TEXT NOT NULL,
      source TEXT NOT NULL,
      as_of TEXT NOT NULL,
      digest TEXT NOT NULL,
      models TEXT NOT NULL
    )`,
    "INSERT INTO change_counters (name, value) VALUES ('catalogue', 0)",
  ],
};
