import type { Migration } from "./migration.ts";

/**
 * Asynchronous jobs. What a process does with one it does under a lease, so that two processes on one database never ask,
 * fetch or bill twice.
 */
export const operations: Migration = {
  version: 6,
  name: "operations",
  statements: [
    `CREATE TABLE operations (
      id TEXT PRIMARY KEY,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      receipt_id TEXT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      credential TEXT NOT NULL,
      state TEXT NOT NULL,
      job TEXT NOT NULL,
      parts TEXT NOT NULL,
      error TEXT,
      request_digest TEXT NOT NULL,
      idempotency_key TEXT,
      claimed INTEGER NOT NULL,
      created_at_ms BIGINT NOT NULL,
      deadline_at_ms BIGINT NOT NULL,
      due_at_ms BIGINT NOT NULL,
      ended_at_ms BIGINT,
      expires_at_ms BIGINT,
      lease_owner TEXT,
      lease_until_ms BIGINT NOT NULL
    )`,
    "CREATE UNIQUE INDEX operations_by_idempotency ON operations (project, idempotency_key)",
    "CREATE INDEX operations_by_due ON operations (state, due_at_ms)",
    "CREATE INDEX operations_by_request ON operations (key_id, request_digest)",
  ],
};
