import type { Storage } from "../storage.ts";
import type { Migration, Statement } from "./migration.ts";

/** The words that many receipts have in common. */
const KIND = [
  ...[
    "project",
    "key_id",
    "model",
    "provider",
    "upstream_model",
    "verb",
    "client_dialect",
    "upstream_dialect",
    "lane",
  ].map((name) => `${name} TEXT NOT NULL`),
  "stream INTEGER NOT NULL",
  "outcome TEXT NOT NULL",
  "stop_unified TEXT",
  "stop_raw TEXT",
  "usage_source TEXT NOT NULL",
  "price_rule TEXT NOT NULL",
  "priced_by TEXT",
];

const OWN = [
  "created_at_ms BIGINT NOT NULL",
  ...["input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning"].map(
    (name) => `usage_${name} BIGINT`,
  ),
  ...["image_input", "audio_input", "image_output", "audio_output", "images"].map((name) => `usage_${name} BIGINT`),
  "usage_seconds DOUBLE PRECISION",
  "usage_characters BIGINT",
  "usage_searches BIGINT",
  "cost_nano_usd BIGINT NOT NULL",
  "first_content_ms BIGINT",
  "total_ms BIGINT NOT NULL",
  "offers TEXT NOT NULL",
  "fields TEXT NOT NULL",
  "routing TEXT",
  "adjusts TEXT",
  "tags TEXT",
];

const names = (columns: readonly string[]): string[] => columns.map((column) => column.split(" ", 1)[0] ?? "");
const KIND_NAMES = names(KIND);
const OWN_NAMES = names(OWN);
/** Enough of a kind to find it by. */
const FOUND_BY = "key_id, model, outcome, stop_raw, price_rule, upstream_model";

const sqliteAlone =
  (text: string): Statement =>
  (engine: Storage["engine"]) =>
    engine === "sqlite" ? text : "SELECT 1";

/**
 * SQLite copies every byte of a row several times, and most of a receipt's are the same words again and again: these have tables of
 * their own, and rows their numbers. Who reads sees no difference. In PostgreSQL, which is not limited by that, receipts stay a table.
 */
export const receiptKinds: Migration = {
  version: 24,
  name: "receipt-kinds",
  statements: [
    `CREATE TABLE receipt_kinds (id INTEGER PRIMARY KEY, ${KIND.join(", ")})`,
    `CREATE INDEX receipt_kinds_by_words ON receipt_kinds (${FOUND_BY})`,
    "CREATE TABLE receipt_writers (id INTEGER PRIMARY KEY, instance TEXT NOT NULL UNIQUE)",
    `CREATE TABLE receipt_rows (id TEXT PRIMARY KEY, kind INTEGER NOT NULL, writer INTEGER, ${OWN.join(", ")}, priced_by TEXT) WITHOUT ROWID`,
    `INSERT INTO receipt_kinds (${KIND_NAMES.join(", ")}) SELECT DISTINCT ${KIND_NAMES.join(", ")} FROM receipts`,
    "INSERT INTO receipt_writers (instance) SELECT DISTINCT instance FROM receipts WHERE instance IS NOT NULL",
    `INSERT INTO receipt_rows (id, kind, writer, ${OWN_NAMES.join(", ")})
      SELECT receipts.id, receipt_kinds.id, receipt_writers.id, ${OWN_NAMES.map((name) => `receipts.${name}`).join(", ")}
      FROM receipts CROSS JOIN receipt_kinds ON ${KIND_NAMES.map((name) => `receipt_kinds.${name} IS receipts.${name}`).join(" AND ")}
      LEFT JOIN receipt_writers ON receipt_writers.instance = receipts.instance ORDER BY receipts.id`,
    "DROP TABLE receipts",
    `CREATE VIEW receipts AS SELECT receipt_rows.id AS id, instance, COALESCE(receipt_rows.priced_by, receipt_kinds.priced_by) AS priced_by,
      ${[...KIND_NAMES.filter((name) => name !== "priced_by"), ...OWN_NAMES].join(", ")}
      FROM receipt_rows CROSS JOIN receipt_kinds ON receipt_kinds.id = kind LEFT JOIN receipt_writers ON receipt_writers.id = writer`,
  ].map(sqliteAlone),
};
