import { number } from "../columns.ts";
import { REPORT_MS, type Storage } from "../storage.ts";
import { COUNTERS, mayBeUnsummed, NOT_ROLLED_UP } from "./roll-up-columns.ts";
import type { UsageQuestion } from "./usage-question.ts";
import type { TimeSpan, UsageSources } from "./usage-spans.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** For fewer hours, the check would cost more than it saves. */
const MANY_HOURS = 96;

/**
 * Runs a report with the counters that occur in its range, and omits the others: most gateways use few of them, and
 * SQLite's sorting for groups is slower the wider the rows are. For the many sums of tags, PostgreSQL takes twice as
 * long with all counters. A counter that appears in the meantime is noticed, because counters never disappear.
 */
export async function withPresentCounters<Result>(
  storage: Storage,
  { by, sources }: Pick<UsageQuestion, "by" | "sources">,
  work: (counters: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const isLong = storage.engine === "sqlite" && hoursIn(sources) >= MANY_HOURS;
  if (!isLong && !by.includes("tag")) return work(COUNTERS);
  const before = await selectPresent(storage, sources);
  const result = await work(before);
  const after = await selectPresent(storage, sources);
  return after.length === before.length ? result : work(COUNTERS);
}

function hoursIn({ hours, moved }: UsageSources): number {
  const read = [...hours, ...(moved?.hours ?? []).map(({ span }) => span)];
  return read.reduce((sum, [from, until]) => sum + until - from, 0);
}

async function selectPresent(storage: Storage, sources: UsageSources): Promise<string[]> {
  const [from, until] = daysOf(sources);
  const names = COUNTERS.join(", ");
  const unsummed = `UNION ALL SELECT ${names} FROM receipts WHERE ${NOT_ROLLED_UP}`;
  const [row = {}] = await storage.query(
    `SELECT ${COUNTERS.map((name) => `COUNT(${name}) AS ${name}`).join(", ")} FROM (
       SELECT ${names} FROM usage_days WHERE day >= ? AND day < ?
       ${mayBeUnsummed(storage.engine) ? unsummed : ""}) AS parts`,
    [from, until],
    REPORT_MS,
  );
  return COUNTERS.filter((name) => number(row, name) > 0);
}

/** The days that cover all of it. */
function daysOf({ days, hours, receipts }: UsageSources): TimeSpan {
  const inDays = (spans: readonly TimeSpan[], ms: number) => spans.flat().map((at) => (at * ms) / DAY_MS);
  const moments = [...inDays(days, DAY_MS), ...inDays(hours, HOUR_MS), ...inDays(receipts, 1)];
  return [Math.floor(Math.min(...moments)), Math.ceil(Math.max(...moments))];
}
