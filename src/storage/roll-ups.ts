import { USAGE_COUNTERS } from "../canon/usage.ts";
import { RECEIPT_COLUMNS, USAGE_COLUMNS } from "./receipt-columns.ts";
import type { BoundStatement, Parameter } from "./storage.ts";

type Row = readonly Parameter[];

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const DIMENSIONS = ["project", "key_id", "model", "provider", "dialect", "outcome"];
const COUNTERS = USAGE_COUNTERS.map((counter) => USAGE_COLUMNS[counter]);
const AMOUNTS = ["calls", "cost_nano_usd", "total_ms", "first_contents", "first_content_ms"];

const place = (name: string): number => RECEIPT_COLUMNS.findIndex((column) => column.name === name);
const DIMENSION_PLACES = DIMENSIONS.map((name) => place(name === "dialect" ? "client_dialect" : name));
const COUNTER_PLACES = COUNTERS.map(place);
const CREATED = place("created_at_ms");
const COST = place("cost_nano_usd");
const TOTAL_MS = place("total_ms");
const FIRST_CONTENT = place("first_content_ms");
const ADJUSTS = place("adjusts");

/** Receipts of one hour that are alike in all dimensions, summed up. */
interface Group {
  hour: number;
  dimensions: Parameter[];
  amounts: number[];
  counters: (number | undefined)[];
}

/**
 * What adds these new receipts to the sums of their hours and days in SQLite: one statement for each group and roll-up, however many
 * receipts are in it.
 */
export function rollUp(rows: readonly Row[]): BoundStatement[] {
  const groups = new Map<string, Group>();
  for (const row of rows) add(groups, row);
  const statements: BoundStatement[] = [];
  for (const { hour, dimensions, amounts, counters } of groups.values()) {
    const isText = counters.length <= TEXT_COUNTERS.length;
    const { hours, days } = isText ? OF_TEXTS : ALL;
    const values: Parameter[] = [...dimensions, ...amounts];
    const count = isText ? TEXT_COUNTERS.length : COUNTERS.length;
    for (let index = 0; index < count; index += 1) values.push(counters[index] ?? null);
    statements.push([hours, [hour, ...values]], [days, [Math.floor(hour / HOURS_A_DAY), ...values]]);
  }
  return statements;
}

function add(groups: Map<string, Group>, row: Row): void {
  const hour = Math.floor(numberAt(row, CREATED) / HOUR_MS);
  let name = String(hour);
  for (const at of DIMENSION_PLACES) name += `\0${row[at]}`;
  let group = groups.get(name);
  if (group === undefined) {
    const dimensions = DIMENSION_PLACES.map((at) => row[at] ?? "");
    group = { hour, dimensions, amounts: [0, 0, 0, 0, 0], counters: [] };
    groups.set(name, group);
  }
  const { amounts, counters } = group;
  const firstContent = row[FIRST_CONTENT];
  const added = [
    row[ADJUSTS] === null ? 1 : 0,
    numberAt(row, COST),
    numberAt(row, TOTAL_MS),
    typeof firstContent === "number" ? 1 : 0,
    numberAt(row, FIRST_CONTENT),
  ];
  for (const [index, amount] of added.entries()) amounts[index] = (amounts[index] ?? 0) + amount;
  for (const [index, at] of COUNTER_PLACES.entries()) {
    const value = row[at];
    if (typeof value === "number") counters[index] = (counters[index] ?? 0) + value;
  }
}

function numberAt(row: Row, at: number): number {
  const value = row[at];
  return typeof value === "number" ? value : 0;
}

/** Counters that no group has are left out where that is usual: each costs as much as a row's column. */
function upsert(table: string, unit: string, counters: readonly string[]): string {
  const key = [unit, ...DIMENSIONS];
  const columns = [...key, ...AMOUNTS, ...counters];
  const sums = [
    ...AMOUNTS.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`),
    ...counters.map((sum) => {
      const [before, added] = [`${table}.${sum}`, `excluded.${sum}`];
      return `${sum} = COALESCE(${before} + ${added}, ${before}, ${added})`;
    }),
  ];
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
    ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${sums.join(", ")}`;
}

const ALL = { hours: upsert("usage_hours", "hour", COUNTERS), days: upsert("usage_days", "day", COUNTERS) };
/** Those of texts, which the list begins with. */
const TEXT_COUNTERS = COUNTERS.slice(0, USAGE_COUNTERS.indexOf("reasoning") + 1);
const OF_TEXTS = {
  hours: upsert("usage_hours", "hour", TEXT_COUNTERS),
  days: upsert("usage_days", "day", TEXT_COUNTERS),
};
