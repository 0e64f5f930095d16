import { withoutAbsent } from "../../base/without-absent.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import type { BoundStatement, FollowUp, Parameter, Queries, Storage, StoredRow } from "../storage.ts";
import { RECEIPT_COLUMNS, receiptValues } from "./receipt-columns.ts";
import { AMOUNTS, COUNTERS, DIMENSIONS, ofReceipt, TAG_DIMENSIONS, tagOf, withTags } from "./roll-up-columns.ts";

type Row = readonly Parameter[];

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;

const place = (name: string): number => RECEIPT_COLUMNS.findIndex((column) => column.name === name);
const DIMENSION_PLACES = DIMENSIONS.map((name) => place(ofReceipt(name)));
const COUNTER_PLACES = COUNTERS.map(place);
const CREATED = place("created_at_ms");
const COST = place("cost_nano_usd");
const TOTAL_MS = place("total_ms");
const FIRST_CONTENT = place("first_content_ms");
const ADJUSTS = place("adjusts");
const TAGS = place("tags");

/** Receipts of one hour that are alike in all dimensions, summed up. */
interface Group {
  hour: number;
  /** Set for the sum of one of their tags. */
  tag?: string;
  dimensions: Parameter[];
  amounts: number[];
  counters: (number | undefined)[];
}

const UNTIL_ID = "SELECT until_id FROM rolled_up";
/** With the mark of the export that is ahead of all others; NULL if there are no exports. */
const MARKS = "SELECT until_id, (SELECT MAX(until_id) FROM exports) AS exported_until_id FROM rolled_up";
const NOTE_LATE = "INSERT OR IGNORE INTO export_late (export, id) SELECT name, ? FROM exports WHERE until_id > ?";

/**
 * SQLite sums up receipts in batches some seconds after they are written. Only later ones, whose hours are already
 * summed up, are added to the sums in the transaction that writes them. It also notes those that come too late for an export.
 */
export const rollUpLate = (receipts: readonly Receipt[]): FollowUp => ({
  given: MARKS,
  statements: (changes, [given]) => {
    const untilId = given === undefined ? "" : text(given, "until_id");
    const exportedUntilId = given === undefined ? undefined : optionalText(given, "exported_until_id");
    const late = receipts.filter(({ id }, index) => changes[index] === 1 && id < untilId);
    const summed = late.length === 0 ? [] : rollUp(late.map(receiptValues));
    if (exportedUntilId === undefined) return summed;
    const unexported = receipts.filter(({ id }, index) => changes[index] === 1 && id < exportedUntilId);
    return [...summed, ...unexported.map(({ id }): BoundStatement => [NOTE_LATE, [id, id]])];
  },
});

/** The same for one receipt that the caller's transaction has just added. */
export async function rollUpLateOne(queries: Queries, receipt: Receipt): Promise<void> {
  const { given, statements } = rollUpLate([receipt]);
  for (const [text, parameters] of statements([1], await queries.query(given))) await queries.query(text, parameters);
}

/**
 * Sums up the next receipts before that id in SQLite, at most `limit`, and returns whether there may be more. Readers
 * of sums add what is not rolled up yet, so no intermediate state is visible.
 */
export function rollUpNext(storage: Storage, beforeId: string, limit: number): Promise<boolean> {
  return storage.transaction(async (queries) => {
    const [mark] = await queries.query(UNTIL_ID);
    const untilId = mark === undefined ? "" : text(mark, "until_id");
    const [last] = await queries.query(LAST_OF_NEXT, [untilId, beforeId, limit]);
    const count = last === undefined ? 0 : number(last, "count");
    if (last === undefined || count === 0) return false;
    // After this id, and before any other that could follow it.
    const endId = `${text(last, "id")}~`;
    const groups = await queries.query(SUM_UP, [untilId, endId]);
    const isTagged = groups.some((group) => number(group, "tagged") > 0);
    const ofTags = isTagged ? await queries.query(SUM_UP_TAGS, [untilId, endId]) : [];
    for (const [statement, parameters] of [...groups, ...ofTags].map(readGroup).flatMap(added))
      await queries.query(statement, parameters);
    await queries.query("UPDATE rolled_up SET until_id = ?", [endId]);
    return count === limit;
  });
}

function rollUp(rows: readonly Row[]): BoundStatement[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    add(groups, row);
    const tags = row[TAGS];
    if (typeof tags === "string") for (const tag of JSON.parse(tags) as string[]) add(groups, row, tag);
  }
  return [...groups.values()].flatMap(added);
}

function added({ hour, tag, dimensions, amounts, counters }: Group): BoundStatement[] {
  const values: Parameter[] = [...dimensions, ...amounts, ...COUNTERS.map((_, index) => counters[index] ?? null)];
  const day = Math.floor(hour / HOURS_A_DAY);
  if (tag === undefined) {
    return [
      [INTO_HOURS, [hour, ...values]],
      [INTO_DAYS, [day, ...values]],
    ];
  }
  return [
    [INTO_TAG_HOURS, [hour, tag, ...values]],
    [INTO_TAG_DAYS, [day, tag, ...values]],
  ];
}

function add(groups: Map<string, Group>, row: Row, tag?: string): void {
  const hour = Math.floor(numberAt(row, CREATED) / HOUR_MS);
  let name = tag === undefined ? String(hour) : `${hour} ${tag}`;
  for (const at of DIMENSION_PLACES) name += `\0${row[at]}`;
  let group = groups.get(name);
  if (group === undefined) {
    const dimensions = DIMENSION_PLACES.map((at) => row[at] ?? "");
    group = { hour, ...withoutAbsent({ tag }), dimensions, amounts: [0, 0, 0, 0, 0], counters: [] };
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

function upsert(table: string, unit: string, dimensions = DIMENSIONS): string {
  const key = [unit, ...dimensions];
  const columns = [...key, ...AMOUNTS, ...COUNTERS];
  const sums = [
    ...AMOUNTS.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`),
    ...COUNTERS.map((sum) => {
      const [before, added] = [`${table}.${sum}`, `excluded.${sum}`];
      return `${sum} = COALESCE(${before} + ${added}, ${before}, ${added})`;
    }),
  ];
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
    ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${sums.join(", ")}`;
}

const INTO_HOURS = upsert("usage_hours", "hour");
const INTO_DAYS = upsert("usage_days", "day");
const INTO_TAG_HOURS = upsert("tag_hours", "hour", TAG_DIMENSIONS);
const INTO_TAG_DAYS = upsert("tag_days", "day", TAG_DIMENSIONS);

const LAST_OF_NEXT = `SELECT MAX(id) AS id, COUNT(*) AS count
  FROM (SELECT id FROM receipt_rows WHERE id >= ? AND id < ? ORDER BY id LIMIT ?) AS next_ones`;
const SUMS = [...AMOUNTS, ...COUNTERS].map((name) => `SUM(${ofReceipt(name)}) AS ${name}`).join(", ");
const WORDS = DIMENSIONS.map((name) => `${ofReceipt(name)} AS ${name}`).join(", ");
/**
 * By their kinds, which are numbers: sorting by text takes several times as long. Two kinds may be alike in all
 * dimensions.
 */
const SUM_UP = `SELECT hour, ${WORDS}, ${[...AMOUNTS, ...COUNTERS].join(", ")}, tagged
  FROM (SELECT created_at_ms / ${HOUR_MS} AS hour, kind, ${SUMS}, COUNT(tags) AS tagged
    FROM receipt_rows WHERE id >= ? AND id < ? GROUP BY 1, 2) CROSS JOIN receipt_kinds ON receipt_kinds.id = kind`;
const TAG = tagOf("sqlite");
const SUM_UP_TAGS = `SELECT created_at_ms / ${HOUR_MS} AS hour, ${WORDS}, ${SUMS}, ${TAG} AS tag
  FROM receipts ${withTags("sqlite")} WHERE receipts.id >= ? AND receipts.id < ? GROUP BY 1, 2, 3, 4, 5, 6, 7, ${TAG}`;

function readGroup(row: StoredRow): Group {
  const tag = optionalText(row, "tag");
  return {
    hour: number(row, "hour"),
    ...withoutAbsent({ tag }),
    dimensions: DIMENSIONS.map((name) => text(row, name)),
    amounts: AMOUNTS.map((name) => number(row, name)),
    counters: COUNTERS.map((name) => optionalNumber(row, name)),
  };
}
