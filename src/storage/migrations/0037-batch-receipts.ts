import type { Storage } from "../storage.ts";
import type { Migration, Statement } from "./migration.ts";

/** Of `receipt_kinds`, and of `receipt_rows`, as migration 26 left them. */
const OF_KINDS = [
  ...["project", "key_id", "model", "provider", "upstream_model", "verb", "client_dialect", "upstream_dialect"],
  ...["lane", "stream", "outcome", "stop_unified", "stop_raw", "usage_source", "price_rule"],
];
const OF_ROWS = [
  "created_at_ms",
  ...["input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning", "image_input"].map(
    (name) => `usage_${name}`,
  ),
  ...["audio_input", "image_output", "audio_output", "images", "seconds", "characters", "searches"].map(
    (name) => `usage_${name}`,
  ),
  ...["cost_nano_usd", "first_content_ms", "total_ms", "offers", "fields", "routing", "adjusts", "tags"],
  ...["request_id", "trace_id"],
  ...["provider_first_content_ms", "provider_stream_ms", "client_ms", "backoff_ms", "queue_ms"],
];

const tableOf = (engine: Storage["engine"]): string => (engine === "sqlite" ? "receipt_rows" : "receipts");

const sqliteAlone = (text: string): Statement => {
  return (engine) => (engine === "sqlite" ? text : "SELECT 1");
};

/** The batch that a call was a line of; a project's own share of the space for objects; and indexes for lists and counts of objects. */
export const batchReceipts: Migration = {
  version: 37,
  name: "batch-receipts",
  statements: [
    (engine) => `ALTER TABLE ${tableOf(engine)} ADD COLUMN batch_id TEXT`,
    // A page of a batch is a range of this index. Most calls belong to no batch, and are not in it.
    (engine) => `CREATE INDEX receipts_by_batch ON ${tableOf(engine)} (batch_id, id) WHERE batch_id IS NOT NULL`,
    sqliteAlone("DROP VIEW receipts"),
    sqliteAlone(`CREATE VIEW receipts AS SELECT receipt_rows.id AS id, instance, COALESCE(receipt_rows.priced_by, receipt_kinds.priced_by) AS priced_by,
      ${[...OF_KINDS, ...OF_ROWS, "batch_id"].join(", ")}
      FROM receipt_rows CROSS JOIN receipt_kinds ON receipt_kinds.id = kind LEFT JOIN receipt_writers ON receipt_writers.id = writer`),
    "ALTER TABLE projects ADD COLUMN project_mb DOUBLE PRECISION",
    "CREATE INDEX objects_by_time ON objects (kind, created_at_ms, id)",
    "CREATE INDEX objects_by_state ON objects (kind, state, size)",
  ],
};
