import type { Storage } from "../storage.ts";
import type { Migration, Statement } from "./migration.ts";

/** Of `receipt_kinds`, and of `receipt_rows`, as migration 37 left them. */
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
  ...["provider_first_content_ms", "provider_stream_ms", "client_ms", "backoff_ms", "queue_ms", "batch_id"],
];

const TOKENS = [
  ...["input", "image_input", "audio_input", "cache_read", "cache_write_5m", "cache_write_1h"],
  ...["output", "image_output", "audio_output", "reasoning"],
];
const tokensOf = (row: string): string => TOKENS.map((name) => `COALESCE(${row}.usage_${name}, 0)`).join(" + ");

const tableOf = (engine: Storage["engine"]): string => (engine === "sqlite" ? "receipt_rows" : "receipts");
const only =
  (wanted: Storage["engine"], text: string): Statement =>
  (engine) =>
    engine === wanted ? text : "SELECT 1";

/** Pages of end users are in the order of their bytes. */
const userOf = (engine: Storage["engine"]): string =>
  `end_user TEXT ${engine === "postgres" ? 'COLLATE "C" ' : ""}NOT NULL`;

const KEY = "end_user, project, key_id, day, instance";
const SUMS = ["calls", "tokens", "cost_nano_usd"];
const ADD = `ON CONFLICT (${KEY}) DO UPDATE SET
  ${SUMS.map((sum) => `${sum} = end_user_days.${sum} + excluded.${sum}`).join(", ")},
  last_at_ms = CASE WHEN excluded.last_at_ms > end_user_days.last_at_ms THEN excluded.last_at_ms ELSE end_user_days.last_at_ms END`;
const INTO = `INSERT INTO end_user_days (${KEY}, ${SUMS.join(", ")}, last_at_ms)`;

const SQLITE_TRIGGER = `CREATE TRIGGER receipts_counted_by_end_user AFTER INSERT ON receipt_rows WHEN NEW.end_user IS NOT NULL BEGIN
  ${INTO} SELECT NEW.end_user, kinds.project, kinds.key_id, NEW.created_at_ms / 86400000,
    COALESCE((SELECT instance FROM receipt_writers WHERE id = NEW.writer), ''),
    CASE WHEN NEW.adjusts IS NULL THEN 1 ELSE 0 END, ${tokensOf("NEW")}, NEW.cost_nano_usd, NEW.created_at_ms
  FROM receipt_kinds AS kinds WHERE kinds.id = NEW.kind
  ${ADD};
END`;

/** Sorted, so that processes that write at once lock the rows in one order. */
const POSTGRES_FUNCTION = `CREATE FUNCTION count_by_end_user() RETURNS TRIGGER LANGUAGE plpgsql AS $body$ BEGIN
  IF EXISTS (SELECT 1 FROM added WHERE end_user IS NOT NULL) THEN
    ${INTO} SELECT end_user, project, key_id, created_at_ms / 86400000, COALESCE(instance, ''),
      CAST(SUM(CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END) AS BIGINT), CAST(SUM(${tokensOf("added")}) AS BIGINT),
      CAST(SUM(cost_nano_usd) AS BIGINT), MAX(created_at_ms)
    FROM added WHERE end_user IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ${ADD};
  END IF;
  RETURN NULL; END $body$`;
const POSTGRES_TRIGGER = `CREATE TRIGGER receipts_counted_by_end_user AFTER INSERT ON receipts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_by_end_user()`;

/**
 * The end user of a call, and what each has used by day and by the process that wrote it: the state of an end user who
 * returns is a few rows, however many calls there were. It is counted in the transaction that writes the receipt, because
 * what leaves memory must be found here. Limits for parts of the calls of keys and projects are JSON.
 */
export const endUsers: Migration = {
  version: 43,
  name: "end-users",
  statements: [
    (engine) => `ALTER TABLE ${tableOf(engine)} ADD COLUMN end_user TEXT`,
    ...["intents", "operations"].map((table) => `ALTER TABLE ${table} ADD COLUMN end_user TEXT`),
    ...["api_keys", "projects"].map((table) => `ALTER TABLE ${table} ADD COLUMN part_limits TEXT`),
    (engine) => `CREATE INDEX receipts_by_end_user ON ${tableOf(engine)} (end_user, id) WHERE end_user IS NOT NULL`,
    only("sqlite", "DROP VIEW receipts"),
    only(
      "sqlite",
      `CREATE VIEW receipts AS SELECT receipt_rows.id AS id, instance, COALESCE(receipt_rows.priced_by, receipt_kinds.priced_by) AS priced_by,
      ${[...OF_KINDS, ...OF_ROWS, "end_user"].join(", ")}
      FROM receipt_rows CROSS JOIN receipt_kinds ON receipt_kinds.id = kind LEFT JOIN receipt_writers ON receipt_writers.id = writer`,
    ),
    (engine) => `CREATE TABLE end_user_days (
      ${userOf(engine)},
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      day BIGINT NOT NULL,
      instance TEXT NOT NULL,
      ${SUMS.map((sum) => `${sum} BIGINT NOT NULL`).join(", ")},
      last_at_ms BIGINT NOT NULL,
      PRIMARY KEY (${KEY})
    )${engine === "sqlite" ? " WITHOUT ROWID" : " WITH (fillfactor = 70)"}`,
    (engine) => `CREATE TABLE end_user_limits (
      level TEXT NOT NULL,
      owner TEXT NOT NULL,
      ${userOf(engine)},
      limits TEXT,
      change_number BIGINT NOT NULL,
      changed_at_ms BIGINT NOT NULL,
      PRIMARY KEY (end_user, level, owner)
    )`,
    "CREATE INDEX end_user_limits_by_change ON end_user_limits (change_number)",
    only("sqlite", SQLITE_TRIGGER),
    only("postgres", POSTGRES_FUNCTION),
    only("postgres", POSTGRES_TRIGGER),
  ],
};
