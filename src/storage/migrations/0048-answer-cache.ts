import type { Migration } from "./migration.ts";

/**
 * Responses that answer equal requests. The sums of each project are kept beside them, so that storing one response never adds up all
 * others. Settings of keys and projects are JSON.
 */
export const answerCache: Migration = {
  version: 48,
  name: "answer-cache",
  statements: [
    ...["api_keys", "projects"].map((table) => `ALTER TABLE ${table} ADD COLUMN answer_cache TEXT`),
    (engine) => `CREATE TABLE cached_answers (
      project TEXT NOT NULL,
      digest TEXT NOT NULL,
      size BIGINT NOT NULL,
      stored_at_ms BIGINT NOT NULL,
      expires_at_ms BIGINT NOT NULL,
      content ${engine === "postgres" ? "BYTEA" : "BLOB"} NOT NULL,
      PRIMARY KEY (project, digest)
    )`,
    "CREATE INDEX cached_answers_by_age ON cached_answers (project, stored_at_ms)",
    "CREATE INDEX cached_answers_by_expiry ON cached_answers (expires_at_ms)",
    `CREATE TABLE cached_answer_sums (
      project TEXT PRIMARY KEY,
      entries BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    )`,
  ],
};
