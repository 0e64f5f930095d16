import type { Migration } from "./migration.ts";

/** The trigger is disabled while there are no exports, so that writing receipts costs nothing more. */
const POSTGRES: readonly string[] = [
  `CREATE FUNCTION note_late_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $body$ BEGIN
    INSERT INTO export_late (export, id) SELECT exports.name, added.id
      FROM added JOIN exports ON added.id < exports.until_id ON CONFLICT DO NOTHING;
    RETURN NULL; END $body$`,
  `CREATE TRIGGER receipts_late_for_export AFTER INSERT ON receipts
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_late_receipts()`,
  "ALTER TABLE receipts DISABLE TRIGGER receipts_late_for_export",
];

/**
 * How far each export is. Receipts before `next_id` are exported. A receipt with an id before `until_id` that is stored after that
 * mark was set is listed in `export_late` by the transaction that stores it.
 */
export const exports: Migration = {
  version: 47,
  name: "exports",
  statements: [
    (engine) => `CREATE TABLE exports (
      name TEXT PRIMARY KEY,
      until_id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL,
      next_id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL,
      due_at_ms BIGINT NOT NULL,
      seen_at_ms BIGINT NOT NULL,
      covered_until_ms BIGINT NOT NULL,
      exported_rows BIGINT NOT NULL,
      files BIGINT NOT NULL,
      last_file TEXT,
      last_file_at_ms BIGINT,
      last_file_rows BIGINT,
      failures BIGINT NOT NULL,
      failing_since_ms BIGINT,
      error TEXT,
      lease_owner TEXT,
      lease_until_ms BIGINT NOT NULL
    )`,
    (engine) => `CREATE TABLE export_late (
      export TEXT NOT NULL,
      id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} NOT NULL,
      PRIMARY KEY (export, id)
    )`,
    ...POSTGRES.map((text) => (engine: "sqlite" | "postgres") => (engine === "postgres" ? text : "SELECT 1")),
  ],
};
