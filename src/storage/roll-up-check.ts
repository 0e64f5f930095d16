import { USAGE_COUNTERS } from "../canon/usage.ts";
import { USAGE_COLUMNS } from "./receipt-columns.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import { type Parameter, REPORT_MS, type Storage } from "./storage.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DIMENSIONS = ["project", "key_id", "model", "provider", "dialect", "outcome"];
const AMOUNTS = ["calls", "cost_nano_usd", "total_ms", "first_contents", "first_content_ms"];
const COUNTERS = USAGE_COUNTERS.map((counter) => USAGE_COLUMNS[counter]);

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
    `(SELECT created_at_ms, project, key_id, model, provider, client_dialect AS dialect, outcome, cost_nano_usd, total_ms,
        CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END AS calls,
        CASE WHEN first_content_ms IS NULL THEN 0 ELSE 1 END AS first_contents,
        COALESCE(first_content_ms, 0) AS first_content_ms, ${COUNTERS.join(", ")}
      FROM receipts WHERE id >= ? AND id < ?) AS listed`,
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
