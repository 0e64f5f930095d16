import { withoutAbsent } from "../../base/without-absent.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalText, text } from "../columns.ts";
import { postgresText } from "../postgres.ts";
import { readTags, tagsText } from "../receipts/receipt-columns.ts";
import { endIdOf } from "../receipts/receipt-ids.ts";
import { type IdRange, intentConditions, type ReceiptFilter } from "../receipts/receipt-pages.ts";
import type { Parameter, Queries, Storage, StoredRow } from "../storage.ts";
import { readStoredJson } from "../stored-json.ts";

/** The outcome of a call that is not settled, and of one whose process ended before. */
export const PENDING = "pending";
const INTERRUPTED = "interrupted";

const COLUMNS = {
  id: ({ id }) => id,
  project: ({ project }) => project,
  key_id: ({ key }) => key,
  created_at_ms: ({ createdAtMs }) => Math.round(createdAtMs),
  model: ({ model }) => model,
  verb: ({ verb }) => verb,
  client_dialect: ({ clientDialect }) => clientDialect,
  stream: ({ stream }) => (stream ? 1 : 0),
  instance: ({ instance = "" }) => instance,
  tags: ({ tags }) => tagsText(tags) ?? null,
  end_user: ({ endUser = null }) => endUser,
  batch_id: ({ batch }) => batch?.id ?? null,
  batch: ({ batch }) => (batch === undefined ? null : JSON.stringify(batch)),
} satisfies Record<string, (intent: Receipt) => string | number | null>;

const NAMES = Object.keys(COLUMNS).join(", ");
const TYPES =
  "id TEXT, project TEXT, key_id TEXT, created_at_ms BIGINT, model TEXT, verb TEXT, client_dialect TEXT, stream INTEGER, instance TEXT, tags TEXT, end_user TEXT, batch_id TEXT, batch TEXT";
const ONCE = "ON CONFLICT (id) DO NOTHING";
const INSERT_ONE = `INSERT INTO intents (${NAMES}) VALUES (${Object.keys(COLUMNS)
  .map(() => "?")
  .join(", ")}) ${ONCE}`;
const INSERT_JSON = `INSERT INTO intents (${NAMES}) SELECT ${NAMES}
  FROM json_to_recordset(CAST(CAST(? AS TEXT) AS JSON)) AS row_of (${TYPES}) ${ONCE}`;

/** Records that these calls are about to reach a provider. An existing row is left alone. */
export async function insertIntents(storage: Storage, intents: readonly Receipt[]): Promise<void> {
  if (intents.length === 0) return;
  if (storage.engine === "postgres") await storage.query(INSERT_JSON, [JSON.stringify(intents.map(asJsonRow))]);
  else await storage.runForEach(INSERT_ONE, intents.map(valuesOf));
}

const valuesOf = (intent: Receipt): Parameter[] => Object.values(COLUMNS).map((from) => from(intent));

const asJsonRow = (intent: Receipt): Record<string, Parameter> =>
  Object.fromEntries(
    Object.entries(COLUMNS).map(([name, from]) => {
      const value = from(intent);
      return [name, typeof value === "string" ? postgresText(value.toWellFormed()) : value];
    }),
  );

/** A call whose process no longer runs is never settled, unless its journal is found. */
const OUTCOME = `CASE WHEN EXISTS (SELECT 1 FROM instances WHERE instances.id = intents.instance)
  THEN '${PENDING}' ELSE '${INTERRUPTED}' END`;
const UNSETTLED = "NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.id = intents.id)";

/** The matching calls without a receipt, newest or oldest first. */
export async function selectUnsettled(
  storage: Storage,
  filter: ReceiptFilter,
  { firstId, endId }: IdRange,
  { limit, newestFirst }: { limit: number; newestFirst: boolean },
): Promise<Receipt[]> {
  const conditions = intentConditions(filter, storage.engine);
  if (conditions === undefined) return [];
  const rows = await storage.query(
    `SELECT * FROM (SELECT ${NAMES}, ${OUTCOME} AS outcome FROM intents WHERE id >= ? AND id < ? AND ${UNSETTLED}) AS unsettled
     ${conditions.length === 0 ? "" : `WHERE ${conditions.map(({ text }) => text).join(" AND ")}`}
     ORDER BY id ${newestFirst ? "DESC" : "ASC"} LIMIT ?`,
    [firstId, endId, ...conditions.flatMap(({ parameters }) => parameters), limit],
  );
  return rows.map(readIntent);
}

export async function selectIntent(queries: Queries, id: string): Promise<Receipt | undefined> {
  const [row] = await queries.query(`SELECT ${NAMES}, ${OUTCOME} AS outcome FROM intents WHERE id = ?`, [id]);
  return row === undefined ? undefined : readIntent(row);
}

const RULES = {
  [PENDING]: "not settled yet",
  [INTERRUPTED]: "not settled: the gateway stopped first; the provider's charge is unknown",
};

/** The known part of a receipt: without usage and cost. */
function readIntent(row: StoredRow): Receipt {
  const outcome = text(row, "outcome") === PENDING ? PENDING : INTERRUPTED;
  return {
    id: text(row, "id"),
    project: text(row, "project"),
    key: text(row, "key_id"),
    createdAtMs: number(row, "created_at_ms"),
    model: text(row, "model"),
    provider: "",
    upstreamModel: "",
    verb: text(row, "verb") as Receipt["verb"],
    clientDialect: text(row, "client_dialect"),
    upstreamDialect: "",
    lane: "native",
    stream: number(row, "stream") === 1,
    outcome,
    offers: [],
    fields: [],
    usage: {},
    usageSource: "partial",
    priceRule: RULES[outcome],
    costNanoUsd: 0,
    totalMs: 0,
    instance: text(row, "instance"),
    ...readTags(row),
    ...withoutAbsent({ endUser: optionalText(row, "end_user"), batch: readBatch(row) }),
  };
}

function readBatch(row: StoredRow): Receipt["batch"] {
  const batch = optionalText(row, "batch");
  return batch === undefined ? undefined : readStoredJson(`intent ${text(row, "id")}`, "batch", batch);
}

/** Deletes some intents that have a receipt, and returns how many. Several processes may do so at once. */
export async function deleteSettledIntents(storage: Storage, limit: number): Promise<number> {
  const unlocked = storage.engine === "postgres" ? "FOR UPDATE SKIP LOCKED" : "";
  const rows = await storage.query(
    `DELETE FROM intents WHERE id IN (SELECT id FROM intents
       WHERE EXISTS (SELECT 1 FROM receipts WHERE receipts.id = intents.id) ORDER BY id LIMIT ? ${unlocked}) RETURNING id`,
    [limit],
  );
  return rows.length;
}

/** Deletes the oldest intents before that time, at most `limit`, and returns how many. */
export async function deleteIntentsBefore(queries: Queries, beforeMs: number, limit: number): Promise<number> {
  const rows = await queries.query(
    "DELETE FROM intents WHERE id IN (SELECT id FROM intents WHERE id < ? ORDER BY id LIMIT ?) RETURNING id",
    [endIdOf(beforeMs), limit],
  );
  return rows.length;
}
