import type { Storage } from "../storage.ts";
import { AMOUNTS, COUNTERS, DIMENSIONS, ROLL_UP_ADDED } from "./0017-roll-ups.ts";
import type { Migration } from "./migration.ts";

interface TagSums {
  table: "tag_hours" | "tag_days";
  unit: "hour" | "day";
  ms: number;
}

const TAG_SUMS: readonly TagSums[] = [
  { table: "tag_hours", unit: "hour", ms: 3_600_000 },
  { table: "tag_days", unit: "day", ms: 86_400_000 },
];

const SUMS = [...Object.keys(AMOUNTS), ...COUNTERS];
const typeOf = (sum: string): string =>
  sum === "usage_seconds" ? "DOUBLE PRECISION" : sum in AMOUNTS ? "BIGINT NOT NULL" : "BIGINT";
const keyOf = (unit: string): string => [unit, "tag", ...Object.keys(DIMENSIONS)].join(", ");

const table = ({ table, unit }: TagSums, engine: Storage["engine"]): string => `CREATE TABLE ${table} (
  ${unit} BIGINT NOT NULL,
  ${["tag", ...Object.keys(DIMENSIONS)].map((name) => `${name} TEXT NOT NULL`).join(", ")},
  ${SUMS.map((sum) => `${sum} ${typeOf(sum)}`).join(", ")},
  PRIMARY KEY (${keyOf(unit)})
)${engine === "sqlite" ? " WITHOUT ROWID" : " WITH (fillfactor = 50)"}`;

/** Sorted, so that processes that write at once lock the rows in one order. */
const addUp = ({ table, unit, ms }: TagSums): string => `INSERT INTO ${table} (${keyOf(unit)}, ${SUMS.join(", ")})
  SELECT created_at_ms / ${ms}, tagged.tag, ${Object.values(DIMENSIONS).join(", ")},
  ${Object.values(AMOUNTS)
    .map((amount) => `CAST(SUM(${amount}) AS BIGINT)`)
    .join(", ")},
  ${COUNTERS.map((name) => (name === "usage_seconds" ? `SUM(${name})` : `CAST(SUM(${name}) AS BIGINT)`)).join(", ")}
  FROM added CROSS JOIN LATERAL json_array_elements_text(CAST(added.tags AS JSON)) AS tagged (tag)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (${keyOf(unit)}) DO UPDATE SET ${SUMS.map((sum) => {
    const [before, added] = [`${table}.${sum}`, `excluded.${sum}`];
    return `${sum} = ${sum in AMOUNTS ? `${before} + ${added}` : `COALESCE(${before} + ${added}, ${before}, ${added})`}`;
  }).join(", ")}`;

const POSTGRES_FUNCTION = `CREATE OR REPLACE FUNCTION roll_up_receipts() RETURNS TRIGGER LANGUAGE plpgsql AS $body$ BEGIN
  ${ROLL_UP_ADDED}
  IF EXISTS (SELECT 1 FROM added WHERE tags IS NOT NULL) THEN
    ${TAG_SUMS.map((sums) => `${addUp(sums)};`).join("\n")}
  END IF;
  RETURN NULL; END $body$`;

/**
 * What calls and keys are marked with, as a JSON list; NULL where there is nothing. The sums of a tag are in tables of their own: a
 * call with two tags is in both, and however many tags there are, other reports read none of them.
 */
export const tags: Migration = {
  version: 23,
  name: "tags",
  statements: [
    ...["receipts", "intents", "operations", "api_keys"].map((name) => `ALTER TABLE ${name} ADD COLUMN tags TEXT`),
    ...TAG_SUMS.map((sums) => (engine: Storage["engine"]) => table(sums, engine)),
    (engine) => (engine === "sqlite" ? "SELECT 1" : POSTGRES_FUNCTION),
  ],
};
