import type { ZoneOffset } from "../../base/time-zone.ts";
import type { Parameter, Storage } from "../storage.ts";
import { FAILED, HAS_FAILED } from "./failed-outcomes.ts";
import { hoursByDay } from "./hours-by-day.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { mayBeUnsummed, NOT_ROLLED_UP, ofReceipt, tagOf, withTags } from "./roll-up-columns.ts";
import { isOfEndUsers, type UsageDimension, type UsageFilter, type UsageQuestion } from "./usage-question.ts";
import type { MovedSpan, TimeSpan, UsageSources } from "./usage-spans.ts";

type Engine = Storage["engine"];

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Sums by tag have separate rows for each tag. */
type Table = "usage_hours" | "usage_days" | "tag_hours" | "tag_days" | "receipts";

export interface Source {
  table: Table;
  spans: readonly (TimeSpan | MovedSpan)[];
  /** For receipts: only those that no sum includes, or only those that one does. */
  only?: "unsummed" | "summed";
  /** Its rows are needed once for each tag. */
  byTag: boolean;
  /** Only receipts of end users are needed. */
  byUser?: boolean;
  /** Its spans are those of `moved`. */
  isMoved?: boolean;
}

/** A statement, or a part of one. */
export interface SqlPart {
  text: string;
  parameters: Parameter[];
}

/** What a query reads. An empty source is omitted: PostgreSQL would plan for reading all of it. */
export function sourcesOf(engine: Engine, question: UsageQuestion): Source[] {
  const { by, tag, sources } = question;
  const byTag = by.includes("tag") || tag !== undefined;
  if (isOfEndUsers(question)) {
    return sources.receipts.length === 0 ? [] : [{ table: "receipts", spans: sources.receipts, byTag, byUser: true }];
  }
  const [days, hours] = byTag ? (["tag_days", "tag_hours"] as const) : (["usage_days", "usage_hours"] as const);
  const { moved } = sources;
  const all: Source[] = [
    { table: days, spans: sources.days, byTag },
    { table: hours, spans: sources.hours, byTag },
    { table: "receipts", spans: mayBeUnsummed(engine) ? inMs(sources) : [], only: "unsummed", byTag },
    { table: "receipts", spans: sources.receipts, byTag },
    { table: hours, spans: moved?.hours ?? [], byTag, isMoved: true },
    { table: "receipts", spans: moved?.receipts ?? [], only: "summed", byTag, isMoved: true },
  ];
  return all.filter(({ spans }) => spans.length > 0);
}

/** The range that is read from sums. */
function inMs({ days, hours }: UsageSources): TimeSpan[] {
  const times = (spans: readonly TimeSpan[], ms: number) =>
    spans.map(([from, until]): TimeSpan => [from * ms, until * ms]);
  return [...times(days, DAY_MS), ...times(hours, HOUR_MS)];
}

function column(dimension: keyof UsageFilter | UsageDimension, table: Table, engine: Engine): string {
  if (dimension === "tag" && table === "receipts") return tagOf(engine);
  const names: Readonly<Record<string, string>> = { key: "key_id", keyId: "key_id", endUser: "end_user" };
  const name = names[dimension] ?? dimension;
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

/** Sums are of UTC hours and UTC days: the days of the zone are used only to group hours. */
const offsetsFor = ({ by, offsets }: UsageQuestion, table: Table): readonly ZoneOffset[] =>
  table === "receipts" || by.includes("hour") ? offsets : [];

const FILTERS = ["project", "keyId", "model", "provider", "dialect", "outcome", "tag", "endUser"] as const;
const FIELDS = {
  first_id: "TEXT",
  end_id: "TEXT",
  start: "BIGINT",
  until: "BIGINT",
  utc_day: "BIGINT",
  zone_day: "BIGINT",
} as const;

const UNITS: Readonly<Record<Table, string>> = {
  usage_hours: "hour",
  usage_days: "day",
  tag_hours: "hour",
  tag_days: "day",
  receipts: "created_at_ms",
};

/** More spans are passed as rows: a condition for each would be slower to plan than the join. */
const MAX_CONDITIONS = 2;

/**
 * The spans of sums that PostgreSQL reads as conditions: it can then estimate how much of the table is needed, and
 * reads it in physical order, in parallel if needed. A span passed as a row causes one heap access for each sum.
 */
function asConditions(engine: Engine, { table, spans, isMoved }: Source): readonly TimeSpan[] | undefined {
  if (engine === "sqlite" || table === "receipts" || isMoved || spans.length > MAX_CONDITIONS) return undefined;
  return spans as readonly TimeSpan[];
}

/** The parameters of `rowsOf`. */
export function boundsOf(engine: Engine, source: Source): Parameter[] {
  return asConditions(engine, source)?.flat() ?? [spansAsJson(source)];
}

function spansAsJson({ table, spans }: Source): string {
  return JSON.stringify(
    spans.map((given) => {
      const moved = "span" in given ? { utc_day: given.utcDay, zone_day: given.zoneDay } : {};
      const [start, until] = "span" in given ? given.span : given;
      const ids = table === "receipts" ? { first_id: firstIdOf(start), end_id: endIdOf(until) } : {};
      return { ...ids, start, until, ...moved };
    }),
  );
}

/**
 * The rows of a source: its spans as rows, each of which is a range of the table's primary key. With a limit, SQLite
 * reads their JSON once, not for each row. With an offset, PostgreSQL reads receipts span by span: it expects a hundred spans in any
 * JSON, each a part of the table, and would read all of a large table instead (19 s of 30,000,000 receipts, for one hour of them).
 */
export function rowsOf(engine: Engine, source: Source, read: string = source.table): string {
  const { table, only, byTag, byUser } = source;
  const unit = UNITS[table];
  const conditions = asConditions(engine, source)?.map(() => `${unit} >= ? AND ${unit} < ?`);
  if (conditions !== undefined) return `${read} WHERE (${conditions.join(" OR ")})`;
  const names = Object.keys(FIELDS);
  const spans =
    engine === "postgres"
      ? `json_to_recordset(CAST(CAST(? AS TEXT) AS JSON)) AS span (${Object.entries(FIELDS)
          .map(([name, type]) => `${name} ${type}`)
          .join(", ")})`
      : `(SELECT ${names.map((name) => `value ->> '${name}' AS ${name}`).join(", ")} FROM json_each(?) LIMIT -1) AS span`;
  const within = `${unit} >= span.start AND ${unit} < span.until`;
  // SQLite starts with the first table here.
  const tagged = table === "receipts" && byTag ? withTags(engine) : "";
  if (only === "unsummed") return `${read} CROSS JOIN ${spans} ${tagged} WHERE ${NOT_ROLLED_UP} AND ${within}`;
  const summed = only === "summed" ? ` AND NOT (${NOT_ROLLED_UP})` : "";
  const ofUsers = byUser ? " AND receipts.end_user IS NOT NULL" : "";
  if (table !== "receipts") return `${spans} CROSS JOIN ${read} ${tagged} WHERE ${within}`;
  const ids = "receipts.id >= span.first_id AND receipts.id < span.end_id";
  const rest = `${within}${summed}${ofUsers}`;
  if (engine === "sqlite") return `${spans} CROSS JOIN ${read} ${tagged} WHERE ${ids} AND ${rest}`;
  return `${spans} CROSS JOIN LATERAL (SELECT * FROM ${read} WHERE ${ids} OFFSET 0) AS receipts ${tagged} WHERE ${rest}`;
}

const CALLS = ofReceipt("calls");

function sumsOf(calls: string, counters: readonly string[]): string {
  return [
    `SUM(${calls}) AS calls`,
    `SUM(CASE WHEN ${HAS_FAILED} THEN ${calls} ELSE 0 END) AS failures`,
    ...["cost_nano_usd", ...counters].map((name) => `SUM(${name}) AS ${name}`),
  ].join(", ");
}

/** The expressions and names that a source is grouped by; for moved spans, both days. */
function groupsOf(engine: Engine, question: UsageQuestion, { table, isMoved }: Source) {
  return question.by.flatMap((dimension, index) => {
    if (dimension === "day" && isMoved)
      return ["utc_day", "zone_day"].map((name) => ({ value: `span.${name}`, name, isTime: true }));
    const isTime = dimension === "hour" || dimension === "day";
    const value = isTime ? hourOrDay(dimension, table, offsetsFor(question, table)) : column(dimension, table, engine);
    return [{ value, name: `group_${index}`, isTime }];
  });
}

const grouped = (names: readonly string[]): string => (names.length === 0 ? "" : ` GROUP BY ${names.join(", ")}`);

/** The sums of one source, with the same columns as the others. */
function part(engine: Engine, question: UsageQuestion, source: Source, counters: readonly string[]): SqlPart {
  if (engine === "sqlite" && source.table === "receipts" && !source.byTag && !source.byUser)
    return byKind(question, source, counters);
  const groups = groupsOf(engine, question, source);
  const filters = filtersOf(engine, question, source.table);
  const sums = sumsOf(source.table === "receipts" ? CALLS : "calls", counters);
  const columns = [...groups.map(({ value, name }) => `${value} AS ${name}`), sums].join(", ");
  return {
    text: `SELECT ${columns} FROM ${rowsOf(engine, source)}${filters.text}${grouped(groups.map(({ name }) => name))}`,
    parameters: [...boundsOf(engine, source), ...filters.parameters],
  };
}

/**
 * Receipts in SQLite, first by their kinds, which are numbers: joining each with its text values and sorting by them
 * takes twice as long.
 */
function byKind(question: UsageQuestion, source: Source, counters: readonly string[]): SqlPart {
  const groups = groupsOf("sqlite", question, source);
  const times = groups.filter(({ isTime }) => isTime);
  const filters = filtersOf("sqlite", question, source.table);
  const inner = [
    ...times.map(({ value, name }) => `${value} AS ${name}`),
    "kind",
    `SUM(${CALLS}) AS calls`,
    ...["cost_nano_usd", ...counters].map((name) => `SUM(${name}) AS ${name}`),
  ].join(", ");
  const outer = groups.map(({ value, name, isTime }) => (isTime ? name : `${value} AS ${name}`));
  return {
    text: `SELECT ${[...outer, sumsOf("calls", counters)].join(", ")}
      FROM (SELECT ${inner} FROM ${rowsOf("sqlite", source, "receipt_rows AS receipts")}${grouped([...times.map(({ name }) => name), "kind"])}) AS summed
      CROSS JOIN receipt_kinds ON receipt_kinds.id = kind WHERE TRUE${filters.text}${grouped(groups.map(({ name }) => name))}`,
    parameters: [...boundsOf("sqlite", source), ...filters.parameters],
  };
}

function filtersOf(engine: Engine, question: UsageQuestion, table: Table): SqlPart {
  const isFailed = question.outcome === FAILED;
  const given = FILTERS.filter((name) => question[name] !== undefined && !(isFailed && name === "outcome"));
  const equal = given.map((name) => ` AND ${column(name, table, engine)} = ?`);
  return {
    text: [...equal, ...(isFailed ? [` AND ${HAS_FAILED}`] : [])].join(""),
    parameters: given.map((name) => question[name] ?? null),
  };
}

/** More parts would be slower to plan than to read. */
const MAX_DAYS = 100;

/**
 * Hours in SQLite, day by day: the day is then a constant, hours are in index order, and sorting for other groups is
 * small. Undefined if that does not apply.
 */
function partsByDay(question: UsageQuestion, source: Source, counters: readonly string[]): SqlPart[] | undefined {
  const { table, spans, isMoved } = source;
  if (table !== "usage_hours" || isMoved) return undefined;
  const days = hoursByDay(spans as readonly TimeSpan[], offsetsFor(question, table));
  if (days.length > MAX_DAYS) return undefined;
  const filters = filtersOf("sqlite", question, table);
  // Numeric groups are last: rows are already in that order.
  const order = question.by.map((dimension, index) => [dimension, `group_${index}`] as const);
  const names = [...order.filter(([dimension]) => dimension !== "hour"), ...order.filter(([name]) => name === "hour")]
    .filter(([dimension]) => dimension !== "day")
    .map(([, group]) => group);
  const end = names.length === 0 ? " HAVING COUNT(*) > 0" : grouped(names);
  return days.map(({ day, hours: [from, until] }) => {
    const groups = question.by.map(
      (dimension, index) => `${dimension === "day" ? day : column(dimension, table, "sqlite")} AS group_${index}`,
    );
    return {
      text: `SELECT ${[...groups, sumsOf("calls", counters)].join(", ")} FROM usage_hours WHERE hour >= ? AND hour < ?${filters.text}${end}`,
      parameters: [from, until, ...filters.parameters],
    };
  });
}

const together = (parts: readonly SqlPart[]): SqlPart => ({
  text: parts.map(({ text }) => text).join(" UNION ALL "),
  parameters: parts.flatMap(({ parameters }) => parameters),
});

/** Moved spans twice: added to the day of the zone, and subtracted from that of UTC. */
function bothWays({ by }: UsageQuestion, moved: SqlPart, counters: readonly string[]): SqlPart {
  const groups = by.map((dimension, index) =>
    dimension === "day" ? `CASE sign WHEN 1 THEN zone_day ELSE utc_day END AS group_${index}` : `group_${index}`,
  );
  const sums = ["calls", "failures", "cost_nano_usd", ...counters].map((name) => `sign * ${name} AS ${name}`);
  return {
    text: `SELECT ${[...groups, ...sums].join(", ")} FROM (${moved.text}) AS moved
      CROSS JOIN (SELECT 1 AS sign UNION ALL SELECT -1 AS sign) AS signs`,
    parameters: moved.parameters,
  };
}

// A sum of BIGINT is NUMERIC in PostgreSQL; seconds are the only counter with a fraction.
const sumOf = (name: string): string =>
  name === "usage_seconds" ? `SUM(parts.${name})` : `CAST(SUM(parts.${name}) AS BIGINT)`;

/**
 * A counter that was used but entirely moved to another day is unknown here. Subtracting may leave a remainder in the
 * last digits of a fraction.
 */
function restOf(name: string): string {
  const sum =
    name === "usage_seconds" ? `CAST(ROUND(CAST(SUM(parts.${name}) AS NUMERIC), 6) AS DOUBLE PRECISION)` : sumOf(name);
  return `CASE WHEN ${sum} = 0 AND MAX(parts.${name}) > 0 THEN NULL ELSE ${sum} END`;
}

/**
 * The sums of all sources by group, unordered. Each source is grouped separately first: SQLite sorts for that, and its
 * rows are then as narrow as possible.
 */
export function usageStatement(
  engine: Engine,
  question: UsageQuestion,
  sources: readonly Source[],
  counters: readonly string[],
): SqlPart {
  const partsOf = (source: Source): SqlPart[] =>
    (engine === "sqlite" ? partsByDay(question, source, counters) : undefined) ?? [
      part(engine, question, source, counters),
    ];
  const moved = sources.filter(({ isMoved }) => isMoved).flatMap(partsOf);
  const all = together([
    ...sources.filter(({ isMoved }) => !isMoved).flatMap(partsOf),
    ...(moved.length === 0 ? [] : [bothWays(question, together(moved), counters)]),
  ]);
  const groups = question.by.map((_, index) => `group_${index}`);
  const sums = [
    ...["calls", "failures", "cost_nano_usd"].map((name) => `${sumOf(name)} AS ${name}`),
    ...counters.map((name) => `${moved.length === 0 ? sumOf(name) : restOf(name)} AS ${name}`),
  ];
  // A group that was entirely moved elsewhere is omitted.
  const having = moved.length === 0 ? "" : " HAVING SUM(parts.calls) <> 0 OR SUM(parts.cost_nano_usd) <> 0";
  return {
    text: `SELECT ${[...groups, ...sums].join(", ")} FROM (${all.text}) AS parts${grouped(groups)}${having}`,
    parameters: all.parameters,
  };
}
