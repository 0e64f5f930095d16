import type { Migration } from "./migration.ts";

/**
 * Gateways that use this storage. Each counts its own `beats` up: whether another one is alive is seen by its count moving,
 * which no clock has a part in.
 */
export const instances: Migration = {
  version: 8,
  name: "instances",
  statements: [
    `CREATE TABLE instances (
      id TEXT PRIMARY KEY,
      place TEXT NOT NULL,
      started_at_ms BIGINT NOT NULL,
      beats BIGINT NOT NULL
    )`,
  ],
};
