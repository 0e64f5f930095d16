import type { Migration } from "./migration.ts";

/**
 * Batches that the gateway runs. The object of a batch has its state and its input as content; here are its terms and its lines. A
 * process works on a batch, and on a line, while it has a lease. The result of a line is kept here until the output file has it.
 */
export const batches: Migration = {
  version: 33,
  name: "batches",
  statements: [
    `CREATE TABLE batches (
      id TEXT PRIMARY KEY,
      form TEXT NOT NULL,
      endpoint TEXT NOT NULL,
      deadline_at_ms BIGINT NOT NULL,
      lease_owner TEXT,
      lease_until_ms BIGINT NOT NULL DEFAULT 0,
      FOREIGN KEY (id) REFERENCES objects (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE batch_lines (
      batch_id TEXT NOT NULL,
      line BIGINT NOT NULL,
      custom_id TEXT NOT NULL,
      start_at BIGINT NOT NULL,
      size BIGINT NOT NULL,
      state TEXT NOT NULL,
      held_nano_usd BIGINT NOT NULL,
      lease_owner TEXT,
      lease_until_ms BIGINT NOT NULL DEFAULT 0,
      status BIGINT,
      result TEXT,
      receipt_id TEXT,
      cost_nano_usd BIGINT,
      PRIMARY KEY (batch_id, line),
      FOREIGN KEY (batch_id) REFERENCES batches (id) ON DELETE CASCADE
    )`,
    "CREATE UNIQUE INDEX batch_lines_by_custom_id ON batch_lines (batch_id, custom_id)",
    "CREATE INDEX batch_lines_by_state ON batch_lines (batch_id, state, line)",
    "CREATE INDEX batch_lines_running ON batch_lines (state, lease_until_ms)",
    "CREATE INDEX batch_lines_by_receipt ON batch_lines (receipt_id)",
  ],
};
