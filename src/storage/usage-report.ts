import type { ZoneOffset } from "../base/time-zone.ts";
import { GatewayError } from "../canon/error.ts";
import type { Usage } from "../canon/usage.ts";
import { number, text } from "./columns.ts";
import { hoursByDay } from "./hours-by-day.ts";
import { withPresentCounters } from "./present-counters.ts";
import { readUsage } from "./receipt-columns.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { NOT_ROLLED_UP, ofReceipt, tagOf, withTags } from "./roll-up-columns.ts";
import { type Parameter, REPORT_MS, type Storage } from "./storage.ts";
import type { Span, UsageSources } from "./usage-spans.ts";

export const USAGE_DIMENSIONS = [
  "model",
  "key",
  "day",
  "hour",
  "provider",
  "project",
  "dialect",
  "outcome",
  "tag",
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Receipts that are alike in all that is given. */
export interface UsageFilter {
  project?: string;
  keyId?: string;
  model?: string;
  provider?: string;
  dialect?: string;
  outcome?: string;
  /** Those that have this one among their tags. */
  tag?: string;
}

interface UsageQuestion extends UsageFilter {
  by: readonly UsageDimension[];
  sources: UsageSources;
  /** Those of the zone whose days are meant, in order; none for UTC. */
  offsets: readonly ZoneOffset[];
  /** At most this many groups. */
  limit: number;
}

export interface UsageSum {
  /** In the order of the dimensions that were asked for. Hours and days are their numbers since 1970. */
  groups: string[];
  calls: number;
  /** Calls that ended in an error; a client that disconnected is not an error. */
  failures: number;
  usage: Usage;
  costNanoUsd: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The sums of tags have rows for each tag by itself. */
type Table = "usage_hours" | "usage_days" | "tag_hours" | "tag_days" | "receipts";

interface Source {
  table: Table;
  spans: readonly Span[];
  /** Of receipts, only those that are in no sum. */
  unsummed?: boolean;
  /** Its rows are needed once for each tag. */
  byTag: boolean;
}

function column(dimension: keyof UsageFilter | UsageDimension, table: Table, engine: Storage["engine"]): string {
  if (dimension === "tag" && table === "receipts") return tagOf(engine);
  const name = dimension === "key" || dimension === "keyId" ? "key_id" : dimension;
  return table === "receipts" ? ofReceipt(name) : name;
}

/** Both engines divide integers to integers. */
function hourOrDay(unit: "hour" | "day", table: Table, offsets: readonly ZoneOffset[]): string {
  if (table === "usage_days" || table === "tag_days") return "day";
  const utcMs = table === "receipts" ? "created_at_ms" : `hour * ${HOUR_MS}`;
  if (unit === "hour") return table === "receipts" ? `created_at_ms / ${HOUR_MS}` : "hour";
  const [first, ...later] = offsets;
  if (first === undefined) return `(${utcMs}) / ${DAY_MS}`;
  const cases = later
    .toReversed()
    .map(({ sinceMs, minutes }) => `WHEN ${utcMs} >= ${sinceMs} THEN ${minutes * MINUTE_MS}`);
  const offset =
    cases.length === 0 ? first.minutes * MINUTE_MS : `CASE ${cases.join(" ")} ELSE ${first.minutes * MINUTE_MS} END`;
  return `(${utcMs} + ${offset}) / ${DAY_MS}`;
}

const FILTERS = ["project", "keyId", "model", "provider", "dialect", "outcome", "tag"] as const;
const FIELDS = { first_id: "TEXT", end_id: "TEXT", start: "BIGINT", until: "BIGINT" } as const;

const UNITS: Readonly<Record<Table, string>> = {
  usage_hours: "hour",
  usage_days: "day",
  tag_hours: "hour",
  tag_days: "day",
  receipts: "created_at_ms",
};

/** The spans as rows, each of which leads to a range of the table's primary key. With a limit, SQLite reads their JSON once, not for each row. */
function spansOf(engine: Storage["engine"], { table, unsummed, byTag }: Source): string {
  const names = Object.keys(FIELDS);
  const rows =
    engine === "postgres"
      ? `json_to_recordset(CAST(CAST(? AS TEXT) AS JSON)) AS span (${Object.entries(FIELDS)
          .map(([name, type]) => `${name} ${type}`)
          .join(", ")})`
      : `(SELECT ${names.map((name) => `value ->> '${name}' AS ${name}`).join(", ")} FROM json_each(?) LIMIT -1) AS span`;
  const unit = UNITS[table];
  const within = `${unit} >= span.start AND ${unit} < span.until`;
  // SQLite begins with what comes first here.
  const tagged = table === "receipts" && byTag ? withTags(engine) : "";
  if (unsummed) return `receipts CROSS JOIN ${rows} ${tagged} WHERE ${NOT_ROLLED_UP} AND ${within}`;
  const ids = table === "receipts" ? "receipts.id >= span.first_id AND receipts.id < span.end_id AND " : "";
  return `${rows} CROSS JOIN ${table} ${tagged} WHERE ${ids}${within}`;
}

const CALLS = ofReceipt("calls");

function sumsOf(table: Table, counters: readonly string[]): string {
  const calls = table === "receipts" ? CALLS : "calls";
  return [
    `SUM(${calls}) AS calls`,
    `SUM(CASE WHEN outcome IN ('ok', 'client_gone') THEN 0 ELSE ${calls} END) AS failures`,
    ...["cost_nano_usd", ...counters].map((name) => `SUM(${name}) AS ${name}`),
  ].join(", ");
}

interface Part {
  text: string;
  parameters: Parameter[];
}

/** One source's sums, with the same columns as those of the others. */
function part(engine: Storage["engine"], question: UsageQuestion, source: Source, counters: readonly string[]): Part {
  const { table, spans } = source;
  const groups = question.by.map((dimension, index) => {
    const isTime = dimension === "hour" || dimension === "day";
    return `${isTime ? hourOrDay(dimension, table, question.offsets) : column(dimension, table, engine)} AS group_${index}`;
  });
  const ranges = spans.map(([start, until]) =>
    table === "receipts" ? { first_id: firstIdOf(start), end_id: endIdOf(until), start, until } : { start, until },
  );
  const filters = filtersOf(engine, question, table);
  return {
    text: `SELECT ${[...groups, sumsOf(table, counters)].join(", ")} FROM ${spansOf(engine, source)}${filters.text}${groupBy(question.by)}`,
    parameters: [JSON.stringify(ranges), ...filters.parameters],
  };
}

function filtersOf(engine: Storage["engine"], question: UsageQuestion, table: Table): Part {
  const given = FILTERS.filter((name) => question[name] !== undefined);
  return {
    text: given.map((name) => ` AND ${column(name, table, engine)} = ?`).join(""),
    parameters: given.map((name) => question[name] ?? null),
  };
}

/** More parts would be slower to plan than they are to read. */
const MAX_DAYS = 100;

/**
 * Hours in SQLite, each day by itself: a day is then known without looking, hours come in the order of the index, and what is sorted for
 * other groups is small. Undefined where that does not fit.
 */
function partsByDay(
  question: UsageQuestion,
  { table, spans }: Source,
  counters: readonly string[],
): Part[] | undefined {
  if (table !== "usage_hours") return undefined;
  const days = hoursByDay(spans, question.offsets);
  if (days.length > MAX_DAYS) return undefined;
  const filters = filtersOf("sqlite", question, table);
  // What sorts as numbers comes last: rows are in that order already.
  const order = question.by.map((dimension, index) => [dimension, `group_${index}`] as const);
  const grouped = [...order.filter(([dimension]) => dimension !== "hour"), ...order.filter(([name]) => name === "hour")]
    .filter(([dimension]) => dimension !== "day")
    .map(([, group]) => group);
  const end = grouped.length === 0 ? " HAVING COUNT(*) > 0" : ` GROUP BY ${grouped.join(", ")}`;
  return days.map(({ day, hours: [from, until] }) => {
    const groups = question.by.map(
      (dimension, index) => `${dimension === "day" ? day : column(dimension, table, "sqlite")} AS group_${index}`,
    );
    return {
      text: `SELECT ${[...groups, sumsOf(table, counters)].join(", ")} FROM usage_hours WHERE hour >= ? AND hour < ?${filters.text}${end}`,
      parameters: [from, until, ...filters.parameters],
    };
  });
}

const groupBy = (by: readonly UsageDimension[]): string =>
  by.length === 0 ? "" : ` GROUP BY ${by.map((_, index) => `group_${index}`).join(", ")}`;

// A sum of BIGINT is NUMERIC in PostgreSQL; seconds are the one counter with a fraction.
const sumOf = (name: string): string =>
  name === "usage_seconds" ? `SUM(${name}) AS ${name}` : `CAST(SUM(${name}) AS BIGINT) AS ${name}`;

/**
 * Calls, counters, cost and failures by group, in one statement over all sources: rows that are written meanwhile are in all
 * of them or in none. Times come in their order, other groups by cost, highest first.
 */
export async function sumUsage(storage: Storage, question: UsageQuestion): Promise<UsageSum[]> {
  const { by, sources } = question;
  const byTag = by.includes("tag") || question.tag !== undefined;
  const given: Source[] = [
    { table: byTag ? "tag_days" : "usage_days", spans: sources.days, byTag },
    { table: byTag ? "tag_hours" : "usage_hours", spans: sources.hours, byTag },
    { table: "receipts", spans: storage.engine === "sqlite" ? inMs(sources) : [], unsummed: true, byTag },
    { table: "receipts", spans: sources.receipts, byTag },
  ];
  if (by.includes("tag")) await refuseTooMany(storage, given);
  // A source that has nothing to give is left out: PostgreSQL would plan for reading all of it.
  const needed = given.filter(({ spans }) => spans.length > 0);
  if (needed.length === 0) return [];
  return withPresentCounters(storage, sources, (counters) => sumSources(storage, question, needed, counters));
}

/** Each source is grouped by itself first: SQLite sorts for that, and what it sorts is then as narrow as can be. */
async function sumSources(
  storage: Storage,
  question: UsageQuestion,
  sources: readonly Source[],
  counters: readonly string[],
): Promise<UsageSum[]> {
  const { by, limit } = question;
  const { engine } = storage;
  const parts = sources.flatMap(
    (source) =>
      (engine === "sqlite" ? partsByDay(question, source, counters) : undefined) ?? [
        part(engine, question, source, counters),
      ],
  );
  const groups = by.map((_, index) => `group_${index}`);
  const sums = ["calls", "failures", "cost_nano_usd", ...counters].map(sumOf);
  const rows = await storage.query(
    `SELECT ${[...groups, ...sums].join(", ")} FROM (${parts.map(({ text }) => text).join(" UNION ALL ")}) AS parts
     ${groupBy(by)} ORDER BY ${orderOf(by)} LIMIT ?`,
    [...parts.flatMap(({ parameters }) => parameters), limit],
    REPORT_MS,
  );
  return rows.map((row) => ({
    groups: groups.map((group) => text(row, group)),
    calls: number(row, "calls"),
    failures: number(row, "failures"),
    usage: readUsage(row),
    costNanoUsd: number(row, "cost_nano_usd"),
  }));
}

/** Sums of tags that one report reads at most: callers invent tags, and other reports wait for this one in SQLite. */
const MAX_TAG_SUMS = 200_000;

async function refuseTooMany(storage: Storage, sources: readonly Source[]): Promise<void> {
  const sums = sources.filter(({ table, spans }) => table !== "receipts" && spans.length > 0);
  if (sums.length === 0) return;
  const some = sums.map((source) => `SELECT 1 AS one FROM ${spansOf(storage.engine, source)}`).join(" UNION ALL ");
  const [row] = await storage.query(
    `SELECT COUNT(*) AS count FROM (${some} LIMIT ${MAX_TAG_SUMS + 1}) AS counted`,
    sums.map(({ spans }) => JSON.stringify(spans.map(([start, until]) => ({ start, until })))),
    REPORT_MS,
  );
  if (row === undefined || number(row, "count") <= MAX_TAG_SUMS) return;
  const message = `There are more than ${MAX_TAG_SUMS.toLocaleString("en")} sums of tags in this range, which is more than a report reads: ask for a shorter one, or for one tag.`;
  throw new GatewayError("invalid_request", message, { path: "by" });
}

/** What sums are read for. */
function inMs({ days, hours }: UsageSources): Span[] {
  const times = (spans: readonly Span[], ms: number) => spans.map(([from, until]): Span => [from * ms, until * ms]);
  return [...times(days, DAY_MS), ...times(hours, HOUR_MS)];
}

function orderOf(by: readonly UsageDimension[]): string {
  const times = by.flatMap((dimension, index) =>
    dimension === "hour" || dimension === "day" ? [`group_${index}`] : [],
  );
  return [...times, "cost_nano_usd DESC", "calls DESC", ...by.map((_, index) => `group_${index}`)].join(", ");
}
