import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { AMOUNTS, COUNTERS, DIMENSIONS, NOT_ROLLED_UP, ofReceipt } from "./roll-up-columns.ts";
import { type Parameter, REPORT_MS, type Storage } from "./storage.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Sums that should be the same, and are not. */
export interface Difference {
  /** Such as `usage_hours beside receipts`. */
  where: string;
  /** Which hour or day, and the values of the dimensions. */
  group: string;
  /** What each says; undefined where it has no such group. */
  here: string | undefined;
  there: string | undefined;
}

type Sums = ReadonlyMap<string, string>;

/** With `receipts`, those of the day are read as well. */
export async function differencesOfDay(storage: Storage, day: number, receipts: boolean): Promise<Difference[]> {
  const hours = await sums(storage, "usage_hours", "hour", "hour >= ? AND hour < ?", [day * 24, (day + 1) * 24]);
  const days = await sums(storage, "usage_days", "day", "day = ?", [day]);
  const ofHours = await sums(storage, "usage_hours", "hour / 24", "hour >= ? AND hour < ?", [day * 24, (day + 1) * 24]);
  const found = compare("usage_days beside usage_hours", days, ofHours);
  if (!receipts) return found;
  const [fromMs, untilMs] = [day * DAY_MS, (day + 1) * DAY_MS];
  const ofReceipts = await sums(
    storage,
    `(SELECT created_at_ms, ${[...DIMENSIONS, ...AMOUNTS, ...COUNTERS].map((name) => `${ofReceipt(name)} AS ${name}`).join(", ")}
      FROM receipts WHERE id >= ? AND id < ? AND NOT (${NOT_ROLLED_UP})) AS listed`,
    `created_at_ms / ${HOUR_MS}`,
    "created_at_ms >= ? AND created_at_ms < ?",
    [firstIdOf(fromMs), endIdOf(untilMs), fromMs, untilMs],
  );
  return [...found, ...compare("usage_hours beside receipts", hours, ofReceipts)];
}

async function sums(
  storage: Storage,
  from: string,
  unit: string,
  where: string,
  parameters: readonly Parameter[],
): Promise<Sums> {
  const all = [...AMOUNTS, ...COUNTERS];
  const rows = await storage.query(
    `SELECT ${unit} AS unit, ${DIMENSIONS.join(", ")}, ${all.map((sum) => `SUM(${sum}) AS ${sum}`).join(", ")}
     FROM ${from} WHERE ${where} GROUP BY ${[unit, ...DIMENSIONS].join(", ")}`,
    parameters,
    REPORT_MS,
  );
  return new Map(
    rows.map((row) => [
      JSON.stringify([String(row["unit"]), ...DIMENSIONS.map((name) => row[name])]),
      JSON.stringify(all.map((sum) => rounded(row[sum]))),
    ]),
  );
}

/** Seconds are added in different orders, which changes their last digits. */
const rounded = (sum: unknown): number | null => (sum === null ? null : Math.round(Number(sum) * 1000) / 1000);

function compare(where: string, here: Sums, there: Sums): Difference[] {
  const groups = new Set([...here.keys(), ...there.keys()]);
  return [...groups].flatMap((group) =>
    here.get(group) === there.get(group) ? [] : [{ where, group, here: here.get(group), there: there.get(group) }],
  );
}
