import type { Migration } from "./migration.ts";

/**
 * Who may use the Admin API, and the sessions of their browsers. Of secrets and session tokens only digests are stored. A session
 * names the digest of the secret that opened it, so that it ends with that secret.
 */
export const operators: Migration = {
  version: 13,
  name: "operators",
  statements: [
    `CREATE TABLE operators (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      role TEXT NOT NULL,
      project TEXT,
      hash TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      revoked_at_ms BIGINT
    )`,
    `CREATE TABLE operator_sessions (
      hash TEXT PRIMARY KEY,
      operator_id TEXT NOT NULL,
      secret_hash TEXT NOT NULL,
      created_at_ms BIGINT NOT NULL,
      used_at_ms BIGINT NOT NULL
    )`,
    "CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id, created_at_ms)",
  ],
};
