import { endIdOf } from "../../src/storage/receipts/receipt-ids.ts";
import { rollUpNext } from "../../src/storage/receipts/roll-ups.ts";
import { START_SUMS_MS, type Storage } from "../../src/storage/storage.ts";

const FILLED_AT_ONCE = 250_000;
/** A gateway sums up a thousand, so that calls need not wait. */
const SUMMED_AT_ONCE = 500_000;

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const PLACES = Array.from({ length: 9 }, (_, index) => 36 ** (8 - index));

/** What `receiptOf` says in the words of SQL, for receipts whose number is `n`: two numbers that look like chance, and what follows. */
const KEY_MODEL = "(k * 7 + o % 3) % 20";
const OUTCOME = "CASE WHEN o % 31 = 0 THEN 1 WHEN o % 97 = 0 THEN 2 ELSE 0 END";
const OUTCOME_WORD = "CASE outcome WHEN 1 THEN 'upstream_failed' WHEN 2 THEN 'client_gone' ELSE 'ok' END";
const DIALECT = "CASE WHEN k % 3 = 0 THEN 'messages' ELSE 'chat' END";
const LANE = "CASE WHEN k % 3 = 0 THEN 'translated' ELSE 'native' END";
const TAGS = `CASE WHEN o % 3 = 0 THEN '["team=' || (k % 10) || '","feature=' || (o / 256 % 5) || '"]' ELSE NULL END`;
const OFFERS = (host: string) => `'[{"provider":"host-' || ${host} || '","outcome":"answered","ms":40}]'`;
const WORDS = (model: string) => `'project-' || (k % 5), 'key_' || k, 'acme/m' || ${model}, 'host-' || (${model} % 4),
  'upstream', 'generate', ${DIALECT}, 'chat', ${LANE}`;
const WORD_COLUMNS =
  "project, key_id, model, provider, upstream_model, verb, client_dialect, upstream_dialect, lane, stream, outcome";
const REST_COLUMNS = "stop_unified, stop_raw, usage_source, price_rule";
const REST = "'stop', 'stop', 'measured', 'prompt 0.2 + completion 0.6 USD/MTok'";
const OWN_COLUMNS = `id, created_at_ms, cost_nano_usd, first_content_ms, total_ms, offers, fields, tags,
  usage_input, usage_cache_read, usage_output`;
const ID = `'rcp_' || ${PLACES.map((place) => `substr('${DIGITS}', CAST(ms / ${place} % 36 AS INTEGER) + 1, 1)`).join(" || ")} || m || n`;
const OWN = `${ID}, ms, 1000 + o % 100000, 200 + o % 300, 900 + o % 4000, ${OFFERS(`(${KEY_MODEL} % 4)`)}, '[]', ${TAGS},
  1000 + o % 500, o % 700, 200 + o % 90`;

interface Fill {
  storage: Storage;
  from: number;
  until: number;
  keys: number;
  firstMs: number;
  /** Receipts a second. */
  rate: number;
}

/** Writes these receipts with statements that make them in the database, and their sums. */
export async function fill({ storage, from, until, keys, firstMs, rate }: Fill): Promise<void> {
  const isSqlite = storage.engine === "sqlite";
  if (isSqlite && from === 0) await fillKinds(storage, keys);
  for (let first = from; first < until; first += FILLED_AT_ONCE) {
    const end = Math.min(until, first + FILLED_AT_ONCE);
    const numbers = isSqlite
      ? `(WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${end - 1}) SELECT n FROM numbers)`
      : `(SELECT CAST(generate_series(${first}, ${end - 1}) AS BIGINT) AS n)`;
    const mixed = `(SELECT n, ${firstMs} + n * 1000 / ${rate} AS ms, (n * 2654435761) % 4294967296 AS m FROM ${numbers} AS numbers)`;
    const drawn = `(SELECT n, ms, m, m * ${keys} / 4294967296 AS k, (m * 69069 + n) % 4294967296 / 256 AS o FROM ${mixed} AS mixed)`;
    const rows = `(SELECT n, ms, m, k, o, ${OUTCOME} AS outcome FROM ${drawn} AS drawn) AS rows`;
    const statement = isSqlite
      ? `INSERT INTO receipt_rows (${OWN_COLUMNS}, kind) SELECT ${OWN}, k * 18 + o % 3 * 6 + o % 2 * 3 + outcome + 1 FROM ${rows}`
      : `INSERT INTO receipts (${OWN_COLUMNS}, ${WORD_COLUMNS}, ${REST_COLUMNS})
        SELECT ${OWN}, ${WORDS(`(${KEY_MODEL})`)}, o % 2, ${OUTCOME_WORD}, ${REST} FROM ${rows}`;
    await storage.query(statement, [], START_SUMS_MS);
    const endId = endIdOf(firstMs + (end * 1000) / rate);
    while (isSqlite && (await rollUpNext(storage, endId, SUMMED_AT_ONCE)));
  }
}

/** In SQLite, every combination of words that receipts share, numbered so that a row can name its own. */
async function fillKinds(storage: Storage, keys: number): Promise<void> {
  const counted = (name: string, count: number) =>
    `${name}s (${name}) AS (SELECT 0 UNION ALL SELECT ${name} + 1 FROM ${name}s WHERE ${name} < ${count - 1})`;
  await storage.query(
    `INSERT INTO receipt_kinds (id, ${WORD_COLUMNS}, ${REST_COLUMNS})
      WITH RECURSIVE ${counted("k", keys)}, ${counted("o", 3)}, ${counted("s", 2)}, ${counted("outcome", 3)}
      SELECT k * 18 + o * 6 + s * 3 + outcome + 1, ${WORDS(`(${KEY_MODEL})`)}, s, ${OUTCOME_WORD}, ${REST} FROM ks, os, ss, outcomes`,
    [],
    START_SUMS_MS,
  );
}
