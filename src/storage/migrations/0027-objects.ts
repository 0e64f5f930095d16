import type { Migration } from "./migration.ts";

/**
 * Objects that clients create and name later: files, batches, conversations, caches. `id` is the random part that all forms of an
 * id share. A row of `object_copies` is the id under which one credential's provider knows the object. Stored answers now record
 * the key that made them; those from before stay visible to their whole project.
 */
export const objects: Migration = {
  version: 27,
  name: "objects",
  statements: [
    `CREATE TABLE objects (
      id TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      share TEXT NOT NULL,
      state TEXT NOT NULL,
      size BIGINT NOT NULL,
      metadata TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      expires_at_ms BIGINT
    )`,
    "CREATE INDEX objects_by_expiry ON objects (expires_at_ms)",
    `CREATE TABLE object_copies (
      object_id TEXT NOT NULL,
      credential TEXT NOT NULL,
      provider_id TEXT NOT NULL,
      expires_at_ms BIGINT,
      PRIMARY KEY (object_id, credential),
      FOREIGN KEY (object_id) REFERENCES objects (id) ON DELETE CASCADE
    )`,
    "ALTER TABLE answers ADD COLUMN key_id TEXT",
    "ALTER TABLE answers ADD COLUMN share TEXT NOT NULL DEFAULT 'project'",
    "ALTER TABLE api_keys ADD COLUMN provider_objects INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE api_keys ADD COLUMN objects TEXT",
    "ALTER TABLE projects ADD COLUMN provider_objects INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE projects ADD COLUMN objects TEXT",
  ],
};
