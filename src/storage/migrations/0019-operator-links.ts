import type { Migration } from "./migration.ts";

/** Links that open a session once: of their tokens only digests are stored, with that of the secret whose session they open. */
export const operatorLinks: Migration = {
  version: 19,
  name: "operator links",
  statements: [
    `CREATE TABLE operator_links (
      hash TEXT PRIMARY KEY,
      secret_hash TEXT NOT NULL,
      expires_at_ms BIGINT NOT NULL
    )`,
  ],
};
