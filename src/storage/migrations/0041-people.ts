import type { Migration } from "./migration.ts";

/**
 * Sessions of people whom an issuer knows, logins that were used, and the subjects of clients' tokens. A session that an earlier
 * program opens has no id; it is shown under a part of its digest, which opens nothing.
 */
export const people: Migration = {
  version: 41,
  name: "people",
  statements: [
    "ALTER TABLE operator_sessions ADD COLUMN id TEXT",
    "ALTER TABLE operator_sessions ADD COLUMN address TEXT",
    "ALTER TABLE operator_sessions ADD COLUMN issuer TEXT",
    "ALTER TABLE operator_sessions ADD COLUMN subject TEXT",
    "ALTER TABLE operator_sessions ADD COLUMN name TEXT",
    "ALTER TABLE operator_sessions ADD COLUMN person_groups TEXT",
    `CREATE TABLE used_logins (
      hash TEXT PRIMARY KEY,
      expires_at_ms BIGINT NOT NULL
    )`,
    `CREATE TABLE token_subjects (
      id TEXT PRIMARY KEY,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      project TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      used_at_ms BIGINT NOT NULL,
      issued_at_ms BIGINT NOT NULL,
      revoked_until_ms BIGINT,
      change_number BIGINT NOT NULL DEFAULT 0
    )`,
    "CREATE INDEX token_subjects_by_change ON token_subjects (change_number)",
    "CREATE INDEX token_subjects_by_use ON token_subjects (used_at_ms, id)",
  ],
};
