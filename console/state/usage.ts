import type { UsageRow } from "../api/types.ts";

import { shownZone, zoned } from "./zone.ts";

export const DIMENSIONS = [
  "day",
  "hour",
  "model",
  "provider",
  "key",
  "project",
  "dialect",
  "outcome",
  "tag",
  "end_user",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/**
 * A call is in the group of each of its tags, and a call without a tag or an end user in none, so groups do not add up to the
 * total.
 */
export const overlap = (by: readonly string[]): boolean => by.includes("tag") || by.includes("end_user");

export const isTime = (dimension: string | undefined): boolean => dimension === "day" || dimension === "hour";

export interface Metric {
  name: string;
  of: (row: Pick<UsageRow, "calls" | "failures" | "cost_nano_usd" | "usage">) => number;
}

const inputOf = ({ usage }: Pick<UsageRow, "usage">): number =>
  (usage.input ?? 0) +
  (usage.cache_write_5m ?? 0) +
  (usage.cache_write_1h ?? 0) +
  (usage.image_input ?? 0) +
  (usage.audio_input ?? 0);

const outputOf = ({ usage }: Pick<UsageRow, "usage">): number =>
  (usage.output ?? 0) + (usage.reasoning ?? 0) + (usage.image_output ?? 0) + (usage.audio_output ?? 0);

export const METRICS = {
  cost: { name: "Cost", of: ({ cost_nano_usd }) => cost_nano_usd },
  calls: { name: "Calls", of: ({ calls }) => calls },
  failures: { name: "Failures", of: ({ failures }) => failures },
  input: { name: "Input tokens", of: inputOf },
  cached: { name: "Cached tokens", of: ({ usage }) => usage.cache_read ?? 0 },
  output: { name: "Output tokens", of: outputOf },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as MetricName[];

export interface SumRow {
  groups: readonly string[];
  values: Record<MetricName, number>;
}

export const valuesOf = (
  row: Pick<UsageRow, "calls" | "failures" | "cost_nano_usd" | "usage">,
): Record<MetricName, number> => ({
  cost: METRICS.cost.of(row),
  calls: METRICS.calls.of(row),
  failures: METRICS.failures.of(row),
  input: METRICS.input.of(row),
  cached: METRICS.cached.of(row),
  output: METRICS.output.of(row),
});

const combined = (
  one: Record<MetricName, number>,
  other: Record<MetricName, number>,
  sign: 1 | -1,
): Record<MetricName, number> =>
  Object.fromEntries(METRIC_NAMES.map((name) => [name, one[name] + sign * other[name]])) as Record<MetricName, number>;

const NOTHING: Record<MetricName, number> = { cost: 0, calls: 0, failures: 0, input: 0, cached: 0, output: 0 };

const sumOf = (rows: readonly SumRow[]): Record<MetricName, number> =>
  rows.reduce((sum, { values }) => combined(sum, values, 1), NOTHING);

export interface Report {
  rows: SumRow[];
  /** The remainder outside the rows shown; undefined if there is none. */
  other: Record<MetricName, number> | undefined;
  total: Record<MetricName, number>;
}

/**
 * The rows to show, and the remainder as one row. `all` covers the same time in few groups, so its sum is the total even if the server
 * sent only the largest groups. Overlapping groups have no remainder.
 */
export function reportOf(
  rows: readonly UsageRow[],
  all: readonly Pick<UsageRow, "calls" | "failures" | "cost_nano_usd" | "usage">[],
  most: number,
  overlapping = false,
): Report {
  const sums = rows.map((row): SumRow => ({ groups: row.groups, values: valuesOf(row) }));
  const shown = sums.slice(0, most);
  const total = sumOf(all.map((row): SumRow => ({ groups: [], values: valuesOf(row) })));
  const other = combined(total, sumOf(shown), -1);
  if (overlapping) return { rows: shown, other: undefined, total };
  return { rows: shown, other: METRIC_NAMES.some((name) => other[name] !== 0) ? other : undefined, total };
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export interface Stack {
  times: number[];
  everyMs: number;
  series: { name: string; values: number[] }[];
}

/** A series over time for each of the largest groups of the other dimension, and one for the rest, if it is more than one group. */
export function stackOf(rows: readonly UsageRow[], by: readonly string[], metric: MetricName, most = 3): Stack {
  const at = by.findIndex(isTime);
  const everyMs = by[at] === "hour" ? HOUR_MS : DAY_MS;
  const other = by.findIndex((_, index) => index !== at);
  // A day is drawn where it begins in the zone of the chart.
  const timeOf = (group: string): number =>
    (everyMs === DAY_MS ? zoned(`${group}T00:00:00`, shownZone.value) : undefined) ?? Date.parse(group);
  const times = [...new Set(rows.map(({ groups }) => timeOf(groups[at] ?? "")))].sort((one, two) => one - two);
  const sizes = new Map<string, number>();
  const nameOf = ({ groups }: UsageRow): string => (other < 0 ? METRICS[metric].name : (groups[other] ?? ""));
  for (const row of rows) sizes.set(nameOf(row), (sizes.get(nameOf(row)) ?? 0) + METRICS[metric].of(row));
  const largest = [...sizes].sort(([, one], [, two]) => two - one).map(([name]) => name);
  const own = largest.slice(0, largest.length === most + 1 ? most + 1 : most);
  const names = largest.length > own.length ? [...own, OTHER] : own;
  const series = names.map((name) => ({ name, values: times.map(() => 0) }));
  for (const row of rows) {
    const place = own.indexOf(nameOf(row));
    const values = series[place < 0 ? names.length - 1 : place]?.values;
    const index = times.indexOf(timeOf(row.groups[at] ?? ""));
    if (values !== undefined) values[index] = (values[index] ?? 0) + METRICS[metric].of(row);
  }
  return { times, everyMs, series };
}

export const OTHER = "Other";

/** Groups by size, as shares of the total. */
export interface Ranked {
  row: SumRow;
  size: number;
  /** Of the total, which may be of more groups than are shown; 0 if it is nothing. */
  share: number;
  /** Of the largest, for the length of its bar. */
  length: number;
}

/** The longest bar is full: as shares of the total, bars of a hundred groups could not be told apart. */
export const largestOf = (rows: readonly SumRow[], metric: MetricName): number =>
  rows.reduce((most, { values }) => Math.max(most, values[metric]), 1);

export function rankedOf({ rows, total }: Report, metric: MetricName, most = 10): Ranked[] {
  const all = total[metric];
  const largest = largestOf(rows, metric);
  return rows
    .map((row) => ({ row, size: row.values[metric] }))
    .map(({ row, size }) => ({ row, size, share: all === 0 ? 0 : size / all, length: size / largest }))
    .filter(({ size }) => size > 0)
    .toSorted((one, other) => other.size - one.size)
    .slice(0, most);
}

/** What to group by to see why a group is so large. */
const DEEPER: Readonly<Partial<Record<Dimension, Dimension>>> = {
  model: "key",
  provider: "model",
  key: "model",
  project: "key",
  dialect: "model",
  outcome: "model",
  tag: "model",
  end_user: "model",
};

/** The groupings inside a group: the next dimension, over the same range. */
export function deeperThan(by: readonly Dimension[]): Dimension | undefined {
  const found = by.map((one) => DEEPER[one]).find((next) => next !== undefined && !by.includes(next));
  return found ?? DIMENSIONS.find((one) => !isTime(one) && !overlap([one]) && !by.includes(one));
}
