import { type Parameter, REPORT_MS, type Storage } from "../storage.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";
import {
  AMOUNTS,
  COUNTERS,
  DIMENSIONS,
  NOT_ROLLED_UP,
  ofReceipt,
  TAG_DIMENSIONS,
  tagOf,
  withTags,
} from "./roll-up-columns.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Sums that should be equal, and are not. */
export interface Difference {
  /** For example `usage_hours vs receipts`. */
  where: string;
  /** The hour or day, and the values of the dimensions. */
  group: string;
  /** The two sums; undefined if there is no such group. */
  here: string | undefined;
  there: string | undefined;
}

type Sums = ReadonlyMap<string, string>;

interface Kind {
  hours: string;
  days: string;
  dimensions: readonly string[];
  /** They contain each receipt once for each of its tags. */
  tagged: boolean;
}

const KINDS: readonly Kind[] = [
  { hours: "usage_hours", days: "usage_days", dimensions: DIMENSIONS, tagged: false },
  { hours: "tag_hours", days: "tag_days", dimensions: TAG_DIMENSIONS, tagged: true },
];

/** With `receipts`, those of the day are read as well. */
export async function differencesOfDay(storage: Storage, day: number, receipts: boolean): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const kind of KINDS) found.push(...(await differencesOf(storage, kind, day, receipts)));
  return found;
}

async function differencesOf(storage: Storage, kind: Kind, day: number, receipts: boolean): Promise<Difference[]> {
  const { dimensions } = kind;
  const inDay = { where: "hour >= ? AND hour < ?", parameters: [day * 24, (day + 1) * 24], dimensions };
  const hours = await sums(storage, { from: kind.hours, unit: "hour", ...inDay });
  const days = await sums(storage, { from: kind.days, unit: "day", where: "day = ?", parameters: [day], dimensions });
  const ofHours = await sums(storage, { from: kind.hours, unit: "hour / 24", ...inDay });
  const found = compare(`${kind.days} vs ${kind.hours}`, days, ofHours);
  if (!receipts) return found;
  const [fromMs, untilMs] = [day * DAY_MS, (day + 1) * DAY_MS];
  const ofReceipts = await sums(storage, {
    from: receiptsAs(kind, storage.engine),
    unit: `created_at_ms / ${HOUR_MS}`,
    where: "created_at_ms >= ? AND created_at_ms < ?",
    parameters: [firstIdOf(fromMs), endIdOf(untilMs), fromMs, untilMs],
    dimensions,
  });
  return [...found, ...compare(`${kind.hours} vs receipts`, hours, ofReceipts)];
}

function receiptsAs({ dimensions, tagged }: Kind, engine: Storage["engine"]): string {
  const named = [...dimensions, ...AMOUNTS, ...COUNTERS].map(
    (name) => `${name === "tag" ? tagOf(engine) : ofReceipt(name)} AS ${name}`,
  );
  return `(SELECT created_at_ms, ${named.join(", ")} FROM receipts ${tagged ? withTags(engine) : ""}
    WHERE receipts.id >= ? AND receipts.id < ? AND NOT (${NOT_ROLLED_UP})) AS listed`;
}

interface Asked {
  from: string;
  unit: string;
  where: string;
  parameters: readonly Parameter[];
  dimensions: readonly string[];
}

async function sums(storage: Storage, { from, unit, where, parameters, dimensions }: Asked): Promise<Sums> {
  const all = [...AMOUNTS, ...COUNTERS];
  const rows = await storage.query(
    `SELECT ${unit} AS unit, ${dimensions.join(", ")}, ${all.map((sum) => `SUM(${sum}) AS ${sum}`).join(", ")}
     FROM ${from} WHERE ${where} GROUP BY ${[unit, ...dimensions].join(", ")}`,
    parameters,
    REPORT_MS,
  );
  return new Map(
    rows.map((row) => [
      JSON.stringify([String(row["unit"]), ...dimensions.map((name) => row[name])]),
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
