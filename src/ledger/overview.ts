import { KeptFor } from "../base/kept-for.ts";
import { completionTokens, promptTokens } from "../canon/usage.ts";
import {
  type CallCount,
  type LatencyCount,
  quantileOf,
  selectBeginning,
  selectCallCounts,
  selectLatencies,
} from "../storage/receipts/receipt-series.ts";
import type { UsageDimension } from "../storage/receipts/usage-question.ts";
import type { TopSum } from "../storage/receipts/usage-tops.ts";
import type { Storage } from "../storage/storage.ts";
import { summariseUsage, topUsage, type UsageTotal } from "./queries.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How far back, and the length of each part. */
const WINDOWS = {
  "15m": { parts: 15, everyMs: MINUTE_MS },
  "1h": { parts: 60, everyMs: MINUTE_MS },
  "24h": { parts: 24, everyMs: HOUR_MS },
  "7d": { parts: 168, everyMs: HOUR_MS },
  "30d": { parts: 30, everyMs: DAY_MS },
} as const;

export type OverviewWindow = keyof typeof WINDOWS;
export const OVERVIEW_WINDOWS = Object.keys(WINDOWS) as OverviewWindow[];
export const windowLengthMs = (window: OverviewWindow): number => WINDOWS[window].parts * WINDOWS[window].everyMs;

export interface Percentiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

type Amounts = Omit<CallCount, "bucket">;

export interface OverviewPart extends Amounts {
  startMs: number;
  firstContentMs: Percentiles;
  totalMs: Percentiles;
}

type Summed = Amounts & { firstContentMs: Percentiles; totalMs: Percentiles };

interface PreviousPeriod extends Summed {
  sinceMs: number;
  /** The ledger had begun by then. */
  isComplete: boolean;
}

export interface TopGroup {
  name: string;
  calls: number;
  failures: number;
  costNanoUsd: number;
}

export interface Overview {
  sinceMs: number;
  untilMs: number;
  everyMs: number;
  total: Summed;
  /** The period of equal length before; null if the ledger has nothing from then. */
  previous: PreviousPeriod | null;
  parts: OverviewPart[];
  top: Record<"models" | "providers" | "keys", TopGroup[]>;
}

const MAX_TOP = 10;
/** Of the period before only a figure is shown, for which fewer receipts do. */
const PREVIOUS_SAMPLED = 2_400;
/** The past hardly changes, and pages ask again every few seconds. */
export const PREVIOUS_KEPT_MS = 60_000;
export type PreviousPeriods = KeptFor<PreviousPeriod | null>;

/**
 * Calls, failures, tokens, cost and latency over time. Parts of an hour or longer are sums of roll-ups. Latencies, and
 * shorter parts, are computed from a bounded number of the newest receipts of each part.
 */
export async function overviewOf(
  storage: Storage,
  window: OverviewWindow,
  nowMs: number,
  previous: PreviousPeriods = new KeptFor(PREVIOUS_KEPT_MS),
): Promise<Overview> {
  const { parts, everyMs } = WINDOWS[window];
  const untilMs = Math.ceil((Math.floor(nowMs) + 1) / everyMs) * everyMs;
  const sinceMs = untilMs - parts * everyMs;
  const span = { sinceMs, everyMs };
  const counts =
    everyMs < HOUR_MS ? await selectCallCounts(storage, { ...span, untilMs }) : await ofRollUps(storage, span, untilMs);
  const sampled = await selectLatencies(storage, { ...span, parts });
  const [firstContents, totals] = [weighted(sampled.firstContents, counts), weighted(sampled.totals, counts)];
  const ofPart = { counts: byBucket(counts), firstContents: byBucket(firstContents), totals: byBucket(totals) };
  const tops = await topUsage(storage, { by: ["model", "provider", "key"], sinceMs, untilMs }, MAX_TOP);
  const top = (dimension: UsageDimension): TopGroup[] => tops.filter((sum) => sum.of === dimension).map(topGroup);
  return {
    sinceMs,
    untilMs,
    everyMs,
    total: { ...sumOf(counts), firstContentMs: percentilesOf(firstContents), totalMs: percentilesOf(totals) },
    previous: await previous.get(window, String(sinceMs), nowMs, () =>
      previousOf(storage, sinceMs - parts * everyMs, sinceMs),
    ),
    parts: Array.from({ length: parts }, (_, index) => ({
      startMs: sinceMs + index * everyMs,
      ...sumOf(ofPart.counts.get(index) ?? []),
      firstContentMs: percentilesOf(ofPart.firstContents.get(index) ?? []),
      totalMs: percentilesOf(ofPart.totals.get(index) ?? []),
    })),
    top: { models: top("model"), providers: top("provider"), keys: top("key") },
  };
}

/** Sums of roll-ups, and latencies from fewer receipts than those of the window itself. */
async function previousOf(storage: Storage, sinceMs: number, untilMs: number): Promise<PreviousPeriod | null> {
  const beganMs = await selectBeginning(storage);
  if (beganMs === undefined || beganMs >= untilMs) return null;
  const lengthMs = untilMs - sinceMs;
  const [by, everyMs]: [UsageDimension[], number] =
    lengthMs > DAY_MS ? [["day"], DAY_MS] : lengthMs === DAY_MS ? [["hour"], HOUR_MS] : [[], lengthMs];
  const sums = await summariseUsage(storage, { by, sinceMs, untilMs });
  const bucketOf = (group = "") => Math.max(0, Math.floor((Date.parse(group) - sinceMs) / everyMs));
  const counts = sums.map((sum) => countOf(by.length === 0 ? 0 : bucketOf(sum.groups[0]), sum));
  const span = { sinceMs, everyMs, parts: lengthMs / everyMs };
  const { firstContents, totals } = await selectLatencies(storage, span, PREVIOUS_SAMPLED);
  return {
    sinceMs,
    isComplete: beganMs <= sinceMs,
    ...sumOf(counts),
    firstContentMs: percentilesOf(weighted(firstContents, counts)),
    totalMs: percentilesOf(weighted(totals, counts)),
  };
}

const byBucket = <Count extends { bucket: number }>(counts: readonly Count[]): Map<number, Count[]> =>
  Map.groupBy(counts, ({ bucket }) => bucket);

async function ofRollUps(
  storage: Storage,
  { sinceMs, everyMs }: { sinceMs: number; everyMs: number },
  untilMs: number,
): Promise<CallCount[]> {
  const by = everyMs < DAY_MS ? "hour" : "day";
  const sums = await summariseUsage(storage, { by: [by], sinceMs, untilMs });
  return sums.map((sum) => countOf(Math.floor((Date.parse(sum.groups[0] ?? "") - sinceMs) / everyMs), sum));
}

const countOf = (bucket: number, { calls, failures, usage, costNanoUsd }: UsageTotal): CallCount => ({
  bucket,
  calls,
  failures,
  costNanoUsd,
  inputTokens: promptTokens(usage) - (usage.cacheRead ?? 0),
  cachedTokens: usage.cacheRead ?? 0,
  outputTokens: completionTokens(usage),
});

/** The same number of receipts is read from each part, so a part with more calls gets more weight. */
function weighted(sampled: readonly LatencyCount[], counts: readonly CallCount[]): LatencyCount[] {
  const calls = new Map<number, number>();
  for (const { bucket, calls: more } of counts) calls.set(bucket, (calls.get(bucket) ?? 0) + more);
  const read = new Map<number, number>();
  for (const { bucket, calls: more } of sampled) read.set(bucket, (read.get(bucket) ?? 0) + more);
  return sampled.map((count) => ({
    ...count,
    calls: (count.calls * Math.max(1, calls.get(count.bucket) ?? 0)) / (read.get(count.bucket) ?? 1),
  }));
}

const percentilesOf = (counts: readonly LatencyCount[]): Percentiles => ({
  p50: quantileOf(counts, 0.5) ?? null,
  p95: quantileOf(counts, 0.95) ?? null,
  p99: quantileOf(counts, 0.99) ?? null,
});

function sumOf(counts: readonly CallCount[]): Amounts {
  const sum = { calls: 0, failures: 0, costNanoUsd: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  for (const count of counts) {
    sum.calls += count.calls;
    sum.failures += count.failures;
    sum.costNanoUsd += count.costNanoUsd;
    sum.inputTokens += count.inputTokens;
    sum.cachedTokens += count.cachedTokens;
    sum.outputTokens += count.outputTokens;
  }
  return sum;
}

const topGroup = ({ of: _, ...group }: TopSum): TopGroup => group;
