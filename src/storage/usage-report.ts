import type { ZoneOffset } from "../base/time-zone.ts";
import { GatewayError } from "../canon/error.ts";
import type { Usage } from "../canon/usage.ts";
import { number, text } from "./columns.ts";
import { readUsage } from "./receipt-columns.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { AMOUNTS, COUNTERS, NOT_ROLLED_UP, ofReceipt, tagOf, withTags } from "./roll-up-columns.ts";
import { type Parameter, REPORT_MS, type Storage } from "./storage.ts";

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

/** From the first to before the second: numbers of hours or of days since 1970, or milliseconds. */
export type Span = readonly [from: number, until: number];

/** Where the parts of a range are read. Together they hold each of its moments once. */
export interface UsageSources {
  days: readonly Span[];
  hours: readonly Span[];
  /** In milliseconds: what roll-ups are too coarse for. */
  receipts: readonly Span[];
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
  /** Of all calls together. */
  totalMs: number;
  /** How many calls had a first content, and after how long, together. */
  firstContents: number;
  firstContentMs: number;
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

/** The spans as rows, each of which leads to a range of the table's primary key. */
function spansOf(engine: Storage["engine"], { table, unsummed, byTag }: Source): string {
  const names = Object.keys(FIELDS);
  const rows =
    engine === "postgres"
      ? `json_to_recordset(CAST(CAST(? AS TEXT) AS JSON)) AS span (${Object.entries(FIELDS)
          .map(([name, type]) => `${name} ${type}`)
          .join(", ")})`
      : `(SELECT ${names.map((name) => `value ->> '${name}' AS ${name}`).join(", ")} FROM json_each(?)) AS span`;
  const unit = UNITS[table];
  const within = `${unit} >= span.start AND ${unit} < span.until`;
  // SQLite begins with what comes first here.
  const tagged = table === "receipts" && byTag ? withTags(engine) : "";
  if (unsummed) return `receipts CROSS JOIN ${rows} ${tagged} WHERE ${NOT_ROLLED_UP} AND ${within}`;
  const ids = table === "receipts" ? "receipts.id >= span.first_id AND receipts.id < span.end_id AND " : "";
  return `${rows} CROSS JOIN ${table} ${tagged} WHERE ${ids}${within}`;
}

/** One source's rows, with the same columns as those of the others. */
function part(
  engine: Storage["engine"],
  question: UsageQuestion,
  source: Source,
): { text: string; parameters: Parameter[] } {
  const { table, spans } = source;
  const groups = question.by.map((dimension, index) => {
    const isTime = dimension === "hour" || dimension === "day";
    return `${isTime ? hourOrDay(dimension, table, question.offsets) : column(dimension, table, engine)} AS group_${index}`;
  });
  const amounts = AMOUNTS.map((name) => (table === "receipts" ? `${ofReceipt(name)} AS ${name}` : name));
  const given = FILTERS.filter((name) => question[name] !== undefined);
  const ranges = spans.map(([start, until]) =>
    table === "receipts" ? { first_id: firstIdOf(start), end_id: endIdOf(until), start, until } : { start, until },
  );
  return {
    text: [
      `SELECT ${[...groups, "outcome", ...amounts, ...COUNTERS].join(", ")} FROM ${spansOf(engine, source)}`,
      ...given.map((name) => `${column(name, table, engine)} = ?`),
    ].join(" AND "),
    parameters: [JSON.stringify(ranges), ...given.map((name) => question[name] ?? null)],
  };
}

// A sum of BIGINT is NUMERIC in PostgreSQL; seconds are the one counter with a fraction.
const sumOf = (name: string, what = name): string =>
  name === "usage_seconds" ? `SUM(${what}) AS ${name}` : `CAST(SUM(${what}) AS BIGINT) AS ${name}`;

const SUMS = [
  ...AMOUNTS.map((name) => sumOf(name)),
  sumOf("failures", "CASE WHEN outcome IN ('ok', 'client_gone') THEN 0 ELSE calls END"),
  ...COUNTERS.map((name) => sumOf(name)),
].join(", ");

/**
 * Calls, counters, cost and failures by group, in one statement over all sources: rows that are written meanwhile are in all
 * of them or in none. Times come in their order, other groups by cost, highest first.
 */
export async function sumUsage(storage: Storage, question: UsageQuestion): Promise<UsageSum[]> {
  const { by, sources, limit } = question;
  const byTag = by.includes("tag") || question.tag !== undefined;
  const given: Source[] = [
    { table: byTag ? "tag_days" : "usage_days", spans: sources.days, byTag },
    { table: byTag ? "tag_hours" : "usage_hours", spans: sources.hours, byTag },
    { table: "receipts", spans: storage.engine === "sqlite" ? inMs(sources) : [], unsummed: true, byTag },
    { table: "receipts", spans: sources.receipts, byTag },
  ];
  if (by.includes("tag")) await refuseTooMany(storage, given);
  // A source that has nothing to give is left out: PostgreSQL would plan for reading all of it.
  const parts = given.filter(({ spans }) => spans.length > 0).map((source) => part(storage.engine, question, source));
  if (parts.length === 0) return [];
  const groups = by.map((_, index) => `group_${index}`);
  const rows = await storage.query(
    `SELECT ${[...groups, SUMS].join(", ")} FROM (${parts.map(({ text }) => text).join(" UNION ALL ")}) AS parts
     ${groups.length === 0 ? "" : `GROUP BY ${groups.join(", ")}`} ORDER BY ${orderOf(by)} LIMIT ?`,
    [...parts.flatMap(({ parameters }) => parameters), limit],
    REPORT_MS,
  );
  return rows.map((row) => ({
    groups: groups.map((group) => text(row, group)),
    calls: number(row, "calls"),
    failures: number(row, "failures"),
    usage: readUsage(row),
    costNanoUsd: number(row, "cost_nano_usd"),
    totalMs: number(row, "total_ms"),
    firstContents: number(row, "first_contents"),
    firstContentMs: number(row, "first_content_ms"),
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
