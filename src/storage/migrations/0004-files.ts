import type { Migration } from "./migration.ts";

/** Generated media that are kept for a while. The bytes lie in the file store, under the same id. */
export const files: Migration = {
  version: 4,
  name: "files",
  statements: [
    `CREATE TABLE files (
      id TEXT PRIMARY KEY,
      project TEXT NOT NULL,
      owner_id TEXT NOT NULL,
      mime_type TEXT NOT NULL,
      size BIGINT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      expires_at_ms BIGINT NOT NULL
    )`,
    "CREATE INDEX files_by_expiry ON files (expires_at_ms)",
  ],
};
