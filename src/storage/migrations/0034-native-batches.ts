import type { Migration } from "./migration.ts";

/**
 * Batches that a provider's batch API runs. The row is written before anything is sent, with the marker by which the provider's batch is
 * found again if the response to its creation was lost.
 */
export const nativeBatches: Migration = {
  version: 34,
  name: "native batches",
  statements: [
    `CREATE TABLE native_batches (
      id TEXT PRIMARY KEY,
      target TEXT NOT NULL,
      provider TEXT NOT NULL,
      credential TEXT NOT NULL,
      marker TEXT NOT NULL,
      phase TEXT NOT NULL,
      line_count BIGINT NOT NULL DEFAULT 0,
      headers TEXT NOT NULL DEFAULT '{}',
      provider_id TEXT,
      tries BIGINT NOT NULL DEFAULT 0,
      sent_at_ms BIGINT NOT NULL DEFAULT 0,
      polled_at_ms BIGINT NOT NULL DEFAULT 0,
      due_at_ms BIGINT NOT NULL DEFAULT 0,
      cancel_sent BIGINT NOT NULL DEFAULT 0,
      lease_owner TEXT,
      lease_until_ms BIGINT NOT NULL DEFAULT 0,
      FOREIGN KEY (id) REFERENCES batches (id) ON DELETE CASCADE
    )`,
    "CREATE INDEX native_batches_due ON native_batches (phase, due_at_ms)",
    "CREATE INDEX native_batches_by_provider_id ON native_batches (provider_id)",
  ],
};
