import type { Storage } from "../storage.ts";
import type { Migration } from "./migration.ts";

type Engine = Storage["engine"];

interface RollUp {
  table: "usage_hours" | "usage_days";
  unit: "hour" | "day";
  ms: number;
}

const HOURS: RollUp = { table: "usage_hours", unit: "hour", ms: 3_600_000 };
const DAYS: RollUp = { table: "usage_days", unit: "day", ms: 86_400_000 };
const ROLL_UPS = [HOURS, DAYS];

/** The columns of a receipt that sums are told apart by, and their names here. */
export const DIMENSIONS = {
  project: "project",
  key_id: "key_id",
  model: "model",
  provider: "provider",
  dialect: "client_dialect",
  outcome: "outcome",
};

/** What no receipt has counted stays NULL. */
export const COUNTERS = [
  "usage_input",
  "usage_cache_read",
  "usage_cache_write_5m",
  "usage_cache_write_1h",
  "usage_output",
  "usage_reasoning",
  "usage_image_input",
  "usage_audio_input",
  "usage_image_output",
  "usage_audio_output",
  "usage_images",
  "usage_seconds",
  "usage_characters",
  "usage_searches",
];

/** Sums that are never NULL, and what one receipt adds to them. */
export const AMOUNTS = {
  calls: "CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END",
  cost_nano_usd: "cost_nano_usd",
  first_contents: "CASE WHEN first_content_ms IS NULL THEN 0 ELSE 1 END",
  first_content_ms: "COALESCE(first_content_ms, 0)",
  total_ms: "total_ms",
};

const SUMS = [...Object.keys(AMOUNTS), ...COUNTERS];
const typeOf = (sum: string): string =>
  sum === "usage_seconds" ? "DOUBLE PRECISION" : sum in AMOUNTS ? "BIGINT NOT NULL" : "BIGINT";
const keyOf = (unit: string): string => [unit, ...Object.keys(DIMENSIONS)].join(", ");

/** The rows of a time lie together. In PostgreSQL a page has room for the next version of a row: the newest ones change with each batch. */
const table = ({ table, unit }: RollUp, engine: Engine): string => `CREATE TABLE ${table} (
  ${unit} BIGINT NOT NULL,
  ${Object.keys(DIMENSIONS)
    .map((name) => `${name} TEXT NOT NULL`)
    .join(", ")},
  ${SUMS.map((sum) => `${sum} ${typeOf(sum)}`).join(", ")},
  PRIMARY KEY (${keyOf(unit)})
)${engine === "sqlite" ? " WITHOUT ROWID" : " WITH (fillfactor = 50)"}`;

const insert = ({ table, unit }: RollUp): string => `INSERT INTO ${table} (${keyOf(unit)}, ${SUMS.join(", ")})`;

const addUp = ({ table, unit }: RollUp): string =>
  `ON CONFLICT (${keyOf(unit)}) DO UPDATE SET ${SUMS.map((sum) => {
    const [before, added] = [`${table}.${sum}`, `excluded.${sum}`];
    return `${sum} = ${sum in AMOUNTS ? `${before} + ${added}` : `COALESCE(${before} + ${added}, ${before}, ${added})`}`;
  }).join(", ")}`;

/** The sums over many receipts; sorted, so that processes that write at once lock the rows in one order. */
const summed = ({ ms }: RollUp, from: string): string => `SELECT created_at_ms / ${ms},
  ${Object.values(DIMENSIONS).join(", ")},
  ${Object.values(AMOUNTS)
    .map((amount) => `CAST(SUM(${amount}) AS BIGINT)`)
    .join(", ")},
  ${COUNTERS.map((name) => (name === "usage_seconds" ? `SUM(${name})` : `CAST(SUM(${name}) AS BIGINT)`)).join(", ")}
  FROM ${from} GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7`;

/** What the trigger does with a statement's rows. */
export const ROLL_UP_ADDED = ROLL_UPS.map(
  (rollUp) => `${insert(rollUp)} ${summed(rollUp, "added")} ${addUp(rollUp)};`,
).join("\n");

const POSTGRES_FUNCTION = `CREATE FUNCTION roll_up_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $body$ BEGIN
  ${ROLL_UP_ADDED}
  RETURN NULL; END $body$`;

const POSTGRES_TRIGGER = `CREATE TRIGGER receipts_rolled_up AFTER INSERT ON receipts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION roll_up_receipts()`;

const unlessSqlite = (statement: string) => (engine: Engine) => (engine === "sqlite" ? "SELECT 1" : statement);

/**
 * Sums of receipts by hour and by day, which are kept in the transaction that adds a receipt: by a trigger in PostgreSQL, which
 * sums a statement's rows in the server; in SQLite by who writes (`roll-ups.ts`), since a trigger there would run for each row.
 * The trigger comes before the sums of what is there: from then on, another process cannot add receipts until both are in place.
 */
export const rollUps: Migration = {
  version: 17,
  name: "roll-ups",
  statements: [
    ...ROLL_UPS.map((rollUp) => (engine: Engine) => table(rollUp, engine)),
    unlessSqlite(POSTGRES_FUNCTION),
    unlessSqlite(POSTGRES_TRIGGER),
    ...ROLL_UPS.map((rollUp) => `${insert(rollUp)} ${summed(rollUp, "receipts")}`),
    // A project's days are found in their roll-ups now, and its receipts in the order of their ids.
    unlessSqlite("DROP INDEX receipts_by_project"),
  ],
};
