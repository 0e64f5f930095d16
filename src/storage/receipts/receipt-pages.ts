import { GUARD_DIRECTIONS, GUARD_VERDICTS } from "../../canon/guard/guard-verdict.ts";
import { ANSWERED_FROM_CACHE, type Receipt } from "../../canon/receipt.ts";
import { optionalNumber, optionalText } from "../columns.ts";
import { type Parameter, type Queries, REPORT_MS, type Storage } from "../storage.ts";
import { FAILED, HAS_FAILED } from "./failed-outcomes.ts";
import { RECEIPT_COLUMNS, readReceipt } from "./receipt-columns.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { mayBeUnsummed, NOT_ROLLED_UP } from "./roll-up-columns.ts";

/** Matches receipts that have all of the given values. */
export interface ReceiptFilter {
  project?: string;
  key?: string;
  model?: string;
  provider?: string;
  /** `failed` matches every kind of error. */
  outcome?: string;
  /** The client's dialect. */
  dialect?: string;
  lane?: string;
  stream?: boolean;
  minTotalMs?: number;
  fromMs?: number;
  /** Exclusive. */
  toMs?: number;
  minCostNanoUsd?: number;
  /** One of its tags. */
  tag?: string;
  endUser?: string;
  /** The id of the request that led to it. */
  requestId?: string;
  /** Whether a stored response has answered it. */
  cached?: boolean;
  /** The batch that it is a line of. */
  batch?: string;
  /** The live connection that it is a turn of. */
  session?: string;
  /** A guard that found something in it. */
  guard?: string;
  /**
   * The start of the id of a receipt, a request or a trace, or part of the name of the model, the provider or the key,
   * ignoring case.
   */
  text?: string;
}

const NAMES = RECEIPT_COLUMNS.map((column) => column.name).join(", ");
const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;

interface Condition {
  text: string;
  parameters: Parameter[];
}

const DIMENSIONS = {
  project: "project",
  key: "key_id",
  model: "model",
  provider: "provider",
  outcome: "outcome",
} as const;

function dimensionsOf(filter: ReceiptFilter): Condition[] {
  return Object.entries(DIMENSIONS).flatMap(([name, column]) => {
    const value = filter[name as keyof typeof DIMENSIONS];
    if (value === undefined) return [];
    if (name === "outcome" && value === FAILED) return [{ text: HAS_FAILED, parameters: [] }];
    return [{ text: `${column} = ?`, parameters: [value] }];
  });
}

const positionIn = (engine: Storage["engine"]): string => (engine === "postgres" ? "strpos" : "instr");

/** Tags are stored as JSON, and contain no quotes. */
const tagCondition = ({ tag }: ReceiptFilter, engine: Storage["engine"]): Condition[] =>
  tag === undefined ? [] : [{ text: `${positionIn(engine)}(tags, ?) > 0`, parameters: [`"${tag}"`] }];

/** Rare fields are stored as JSON, in which quotes of other fields are escaped. */
const sessionCondition = (session: string | undefined, engine: Storage["engine"]): Condition[] =>
  session === undefined
    ? []
    : [{ text: `${positionIn(engine)}(routing, ?) > 0`, parameters: [`"sessionId":${JSON.stringify(session)}`] }];

const GUARD_FINDS = GUARD_VERDICTS.filter((verdict) => verdict !== "passed" && verdict !== "not_run");

/** A verdict begins with these members, in this order. */
function guardCondition(guard: string | undefined, engine: Storage["engine"]): Condition[] {
  if (guard === undefined) return [];
  const sought = GUARD_DIRECTIONS.flatMap((on) =>
    GUARD_FINDS.map((verdict) => JSON.stringify({ name: guard, on, verdict }).slice(0, -1)),
  );
  return [{ text: `(${sought.map(() => `${positionIn(engine)}(routing, ?) > 0`).join(" OR ")})`, parameters: sought }];
}

/** The most receipts of one trace that are searched. */
const MAX_OF_TRACE = 1_000;

/** A trace id, or its beginning. */
const isTraceId = (words: string): boolean => /^[0-9a-f]{16,32}$/i.test(words);

/** Whether an index can find the matches, so that no range has to be searched part by part. */
export const hasTrace = ({ text = "" }: ReceiptFilter): boolean => isTraceId(text);

/** How long after its arrival a request may still have calls admitted. */
const REQUEST_SPAN_MS = 2 * 3_600_000;

/** When the request that the filter looks for arrived, by the time in its id; undefined if it looks for none. */
export function requestTimeOf({ text = "", requestId }: ReceiptFilter): number | undefined {
  const digits = /^req_([0-9a-z]{9})/.exec(requestId ?? text)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 36);
}

/** Text from callers is never a pattern (S02). */
function textOf(words: string, engine: Storage["engine"], columns: readonly string[]): Condition {
  if (requestTimeOf({ text: words }) !== undefined)
    return { text: "request_id >= ? AND request_id < ?", parameters: [words, `${words}~`] };
  if (isTraceId(words)) {
    const id = words.toLowerCase();
    const table = engine === "sqlite" ? "receipt_rows" : "receipts";
    return {
      text: `id IN (SELECT id FROM ${table} WHERE trace_id >= ? AND trace_id < ? LIMIT ${MAX_OF_TRACE})`,
      parameters: [id, `${id}~`],
    };
  }
  if (words.startsWith("rcp_")) return { text: "id >= ? AND id < ?", parameters: [words, `${words}~`] };
  const position = positionIn(engine);
  return {
    text: `(${columns.map((name) => `${position}(LOWER(${name}), ?) > 0`).join(" OR ")})`,
    parameters: columns.map(() => words.toLowerCase()),
  };
}

const TEXT_COLUMNS = ["model", "upstream_model", "provider", "key_id"];

function conditionsOf(filter: ReceiptFilter, engine: Storage["engine"]): Condition[] {
  const { fromMs, toMs, minCostNanoUsd, minTotalMs, text, dialect, lane, stream, batch, endUser, session } = filter;
  const { requestId, cached, guard } = filter;
  return [
    ...dimensionsOf(filter),
    ...tagCondition(filter, engine),
    ...(batch === undefined ? [] : [{ text: "batch_id = ?", parameters: [batch] }]),
    ...sessionCondition(session, engine),
    ...guardCondition(guard, engine),
    ...(endUser === undefined ? [] : [{ text: "end_user = ?", parameters: [endUser] }]),
    ...(requestId === undefined ? [] : [{ text: "request_id = ?", parameters: [requestId] }]),
    ...(cached === undefined
      ? []
      : [{ text: `price_rule ${cached ? "=" : "<>"} ?`, parameters: [ANSWERED_FROM_CACHE] }]),
    ...(dialect === undefined ? [] : [{ text: "client_dialect = ?", parameters: [dialect] }]),
    ...(lane === undefined ? [] : [{ text: "lane = ?", parameters: [lane] }]),
    ...(stream === undefined ? [] : [{ text: "stream = ?", parameters: [stream ? 1 : 0] }]),
    ...(minTotalMs === undefined ? [] : [{ text: "total_ms >= ?", parameters: [minTotalMs] }]),
    ...(fromMs === undefined ? [] : [{ text: "created_at_ms >= ?", parameters: [fromMs] }]),
    ...(toMs === undefined ? [] : [{ text: "created_at_ms < ?", parameters: [toMs] }]),
    ...(minCostNanoUsd === undefined ? [] : [{ text: "cost_nano_usd >= ?", parameters: [minCostNanoUsd] }]),
    ...(text === undefined || text === "" ? [] : [textOf(text, engine, TEXT_COLUMNS)]),
  ];
}

/** The same for calls without a receipt; undefined if none can match, because they have no provider and no cost. */
export function intentConditions(filter: ReceiptFilter, engine: Storage["engine"]): Condition[] | undefined {
  const { minCostNanoUsd = 0, minTotalMs = 0, provider, lane, text, ...rest } = filter;
  if (minCostNanoUsd > 0 || minTotalMs > 0 || provider !== undefined || lane !== undefined) return undefined;
  // The outcome and the usage are not known yet.
  if (rest.outcome === FAILED || rest.cached !== undefined) return undefined;
  // The request and the trace are recorded when the call is settled.
  if (requestTimeOf(filter) !== undefined || hasTrace(filter)) return undefined;
  if (rest.session !== undefined || rest.guard !== undefined) return undefined;
  const found = text === undefined || text === "" ? [] : [textOf(text, engine, ["model", "key_id"])];
  return [...conditionsOf(rest, engine), ...found];
}

/** A range of ids, in the order of ids, which is the order of time. */
export interface IdRange {
  firstId: string;
  /** Exclusive. */
  endId: string;
}

/** After every receipt id. */
const LAST_ID = "rcp_~";

export function idRangeOf(filter: ReceiptFilter): IdRange {
  const { fromMs, toMs } = filter;
  const range = {
    firstId: fromMs === undefined ? "" : firstIdOf(fromMs),
    endId: toMs === undefined ? LAST_ID : endIdOf(toMs),
  };
  const arrivedAtMs = requestTimeOf(filter);
  if (arrivedAtMs === undefined) return range;
  // A call is admitted after its request has arrived.
  const [firstId, endId] = [firstIdOf(arrivedAtMs), endIdOf(arrivedAtMs + REQUEST_SPAN_MS)];
  return {
    firstId: firstId > range.firstId ? firstId : range.firstId,
    endId: endId < range.endId ? endId : range.endId,
  };
}

/** The matching receipts of the range, newest or oldest first. */
export async function selectReceipts(
  storage: Storage,
  filter: ReceiptFilter,
  { firstId, endId }: IdRange,
  { limit, newestFirst }: { limit: number; newestFirst: boolean },
): Promise<Receipt[]> {
  const conditions = [
    { text: "id >= ? AND id < ?", parameters: [firstId, endId] },
    ...conditionsOf(filter, storage.engine),
  ];
  const rows = await storage.query(
    `SELECT ${NAMES} FROM receipts WHERE ${conditions.map(({ text }) => text).join(" AND ")}
     ORDER BY id ${newestFirst ? "DESC" : "ASC"} LIMIT ?`,
    [...conditions.flatMap(({ parameters }) => parameters), limit],
    REPORT_MS,
  );
  return rows.map(readReceipt);
}

interface IdPosition {
  offset: number;
  newestFirst: boolean;
  batch?: string | undefined;
  endUser?: string | undefined;
}

/**
 * The id of the receipt at this position from the start of the range, or from its end; undefined if there are fewer. With a
 * batch or an end user, only its receipts count, which an index finds.
 */
export async function selectIdAt(
  queries: Queries,
  { firstId, endId }: IdRange,
  { offset, newestFirst, batch, endUser }: IdPosition,
): Promise<string | undefined> {
  const ofIndex = batch !== undefined ? "batch_id = ? AND" : endUser === undefined ? "" : "end_user = ? AND";
  const indexed = batch ?? endUser;
  const [row] = await queries.query(
    `SELECT id FROM receipts WHERE ${ofIndex} id >= ? AND id < ? ORDER BY id ${newestFirst ? "DESC" : "ASC"} LIMIT 1 OFFSET ?`,
    [...(indexed === undefined ? [] : [indexed]), firstId, endId, offset],
    REPORT_MS,
  );
  return row === undefined ? undefined : optionalText(row, "id");
}

/**
 * The last or first hour of the span that can match, according to the roll-ups. Sums of hours are read for the day in
 * which the span begins, and for the next day that has any: a key that was not used for long is searched by day.
 */
export async function selectHourWith(
  storage: Storage,
  filter: ReceiptFilter,
  [fromHour, untilHour]: readonly [number, number],
  newestFirst: boolean,
): Promise<number | undefined> {
  const { tag } = filter;
  const order = newestFirst ? "DESC" : "ASC";
  const dimensions = dimensionsOf(filter);
  const sought = tag === undefined ? dimensions : [...dimensions, { text: "tag = ?", parameters: [tag] }];
  const [hours, days] = tag === undefined ? ["usage_hours", "usage_days"] : ["tag_hours", "tag_days"];
  const edge = Math.floor((newestFirst ? untilHour - 1 : fromHour) / HOURS_A_DAY);
  const beyond = newestFirst
    ? [Math.floor(fromHour / HOURS_A_DAY), edge]
    : [edge + 1, Math.ceil(untilHour / HOURS_A_DAY)];
  const day = joined([{ text: "day >= ? AND day < ?", parameters: beyond }, ...sought]);
  const next = `(SELECT day FROM ${days} WHERE ${day.text} ORDER BY day ${order} LIMIT 1)`;
  const inNext: Condition = {
    // SQLite looks up hours by one bound at each end: use those of the day, and hide the others from it.
    text: `hour >= ${HOURS_A_DAY} * ${next} AND hour < ${HOURS_A_DAY} + ${HOURS_A_DAY} * ${next} AND +hour >= ? AND +hour < ?`,
    parameters: [...day.parameters, ...day.parameters, fromHour, untilHour],
  };
  const atEdge: Condition = {
    text: "hour >= ? AND hour < ?",
    parameters: [Math.max(fromHour, edge * HOURS_A_DAY), Math.min(untilHour, (edge + 1) * HOURS_A_DAY)],
  };
  const within: Condition = { text: "hour >= ? AND hour < ?", parameters: [fromHour, untilHour] };
  const columns = [...Object.values(DIMENSIONS), "tags"].join(", ");
  const unsummed = `(SELECT created_at_ms / ${HOUR_MS} AS hour, ${columns} FROM receipts WHERE ${NOT_ROLLED_UP}) AS unsummed`;
  const firstOf = (source: string, given: readonly Condition[]): Condition => {
    const { text, parameters } = joined(given);
    const first = `SELECT hour FROM ${source} WHERE ${text} ORDER BY hour ${order} LIMIT 1`;
    return { text: `SELECT hour FROM (${first}) AS first_of`, parameters };
  };
  const firsts = [
    firstOf(hours, [atEdge, ...sought]),
    firstOf(hours, [inNext, ...sought]),
    ...(mayBeUnsummed(storage.engine)
      ? [firstOf(unsummed, [within, ...dimensions, ...tagCondition(filter, storage.engine)])]
      : []),
  ];
  const [row] = await storage.query(
    `${firsts.map(({ text }) => text).join(" UNION ALL ")} ORDER BY hour ${order} LIMIT 1`,
    firsts.flatMap(({ parameters }) => parameters),
    REPORT_MS,
  );
  return row === undefined ? undefined : optionalNumber(row, "hour");
}

const joined = (conditions: readonly Condition[]): Condition => ({
  text: conditions.map(({ text }) => text).join(" AND "),
  parameters: conditions.flatMap(({ parameters }) => parameters),
});

/** Whether roll-ups can narrow the search. */
export const hasDimensions = (filter: ReceiptFilter): boolean =>
  dimensionsOf(filter).length > 0 || filter.tag !== undefined;

/** The ids of an hour. */
export const idRangeOfHour = (hour: number): IdRange => ({
  firstId: firstIdOf(hour * HOUR_MS),
  endId: endIdOf((hour + 1) * HOUR_MS),
});

/** In any project. */
export async function selectReceiptOfAny(queries: Queries, id: string): Promise<Receipt | undefined> {
  const [row] = await queries.query(`SELECT ${NAMES} FROM receipts WHERE id = ?`, [id]);
  return row === undefined ? undefined : readReceipt(row);
}
