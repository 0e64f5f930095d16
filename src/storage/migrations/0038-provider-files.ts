import type { Migration } from "./migration.ts";

/**
 * Uploaded files at providers, one row for each credential. There is no foreign key to the object: when the object is gone, the row
 * says what is still to be deleted at the provider. `upload_id` is of whoever uploads it, or deletes it, until `lease_until_ms`.
 */
export const providerFiles: Migration = {
  version: 38,
  name: "provider-files",
  statements: [
    `CREATE TABLE provider_files (
      object_id TEXT NOT NULL,
      credential TEXT NOT NULL,
      provider TEXT NOT NULL,
      provider_id TEXT,
      upload_id TEXT NOT NULL,
      lease_until_ms BIGINT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      expires_at_ms BIGINT,
      PRIMARY KEY (object_id, credential)
    )`,
  ],
};
