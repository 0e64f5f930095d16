import type { Migration } from "./migration.ts";

/**
 * The content of an object is one or more blobs of the file store, in order: a file that was uploaded in parts keeps them. `purpose`
 * is what the client wants to do with a file, by which it can list them.
 */
export const objectBlobs: Migration = {
  version: 32,
  name: "object-blobs",
  statements: [
    `CREATE TABLE object_blobs (
      object_id TEXT NOT NULL,
      number BIGINT NOT NULL,
      blob TEXT NOT NULL,
      size BIGINT NOT NULL,
      PRIMARY KEY (object_id, number),
      FOREIGN KEY (object_id) REFERENCES objects (id) ON DELETE CASCADE
    )`,
    "CREATE INDEX object_blobs_by_name ON object_blobs (blob)",
    "ALTER TABLE objects ADD COLUMN purpose TEXT",
    "CREATE INDEX objects_by_project ON objects (project, kind, created_at_ms, id)",
  ],
};
