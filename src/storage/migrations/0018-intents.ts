import type { Migration } from "./migration.ts";

/** Calls that were about to reach a provider, by the id of the receipt that settles each. */
export const intents: Migration = {
  version: 18,
  name: "intents",
  statements: [
    (engine) => `CREATE TABLE intents (
      id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} PRIMARY KEY,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      model TEXT NOT NULL,
      verb TEXT NOT NULL,
      client_dialect TEXT NOT NULL,
      stream INTEGER NOT NULL,
      instance TEXT NOT NULL
    )`,
  ],
};
