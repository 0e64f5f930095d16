import type { Storage } from "../storage.ts";
import type { Migration, Statement } from "./migration.ts";

const PARTS = ["provider_first_content_ms", "provider_stream_ms", "client_ms", "backoff_ms", "queue_ms"];
const NEW = ["request_id", "trace_id", ...PARTS];

/** Of `receipt_kinds`, and of `receipt_rows`, as migration 24 made them. */
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
];

const tableOf = (engine: Storage["engine"]): string => (engine === "sqlite" ? "receipt_rows" : "receipts");

/** Compared byte by byte: they are looked for by their beginnings. */
const typeOf = (name: string, engine: Storage["engine"]): string => {
  if (PARTS.includes(name)) return "BIGINT";
  return engine === "postgres" ? 'TEXT COLLATE "C"' : "TEXT";
};

const added = (name: string): Statement => {
  return (engine) => `ALTER TABLE ${tableOf(engine)} ADD COLUMN ${name} ${typeOf(name, engine)}`;
};

const sqliteAlone = (text: string): Statement => {
  return (engine) => (engine === "sqlite" ? text : "SELECT 1");
};

/** Where the time of a call went, which request and trace it belongs to, and how many requests did not become one. */
export const timingAndRefusals: Migration = {
  version: 26,
  name: "timing-and-refusals",
  statements: [
    ...NEW.map(added),
    // Most calls belong to no trace. Request ids have no index: they begin with the time, as receipt ids do, which finds them (decision 0095).
    (engine) => `CREATE INDEX receipts_by_trace ON ${tableOf(engine)} (trace_id) WHERE trace_id IS NOT NULL`,
    sqliteAlone("DROP VIEW receipts"),
    sqliteAlone(`CREATE VIEW receipts AS SELECT receipt_rows.id AS id, instance, COALESCE(receipt_rows.priced_by, receipt_kinds.priced_by) AS priced_by,
      ${[...OF_KINDS, ...OF_ROWS, ...NEW].join(", ")}
      FROM receipt_rows CROSS JOIN receipt_kinds ON receipt_kinds.id = kind LEFT JOIN receipt_writers ON receipt_writers.id = writer`),
    (engine) => `CREATE TABLE refusals (
      minute BIGINT NOT NULL,
      instance TEXT NOT NULL,
      reason TEXT NOT NULL,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      address_class TEXT NOT NULL,
      address TEXT NOT NULL,
      requests BIGINT NOT NULL,
      PRIMARY KEY (minute, instance, reason, project, key_id, address_class, address)
    )${engine === "sqlite" ? " WITHOUT ROWID" : ""}`,
  ],
};
