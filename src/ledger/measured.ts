import { type Measured, type MeasuredCount, selectAttempts, selectSpeeds } from "../storage/receipts/measured-calls.ts";
import { quantileOf } from "../storage/receipts/receipt-series.ts";
import type { Storage } from "../storage/storage.ts";

/** What was measured of the calls of a group. */
export interface MeasuredGroup {
  calls: number;
  /** Neither answered nor ended by the client or the gateway. */
  failures: number;
  /** Null without a measurement. */
  firstContentMs: { p50: number | null; p95: number | null };
  tokensPerSecond: number | null;
}

export interface MeasuredGroups {
  /** Where the receipts that were read begin. */
  fromMs: number;
  /** Of these groups together; each undefined group means all. Undefined without calls. */
  of(...groups: readonly (string | undefined)[]): MeasuredGroup | undefined;
}

interface Range {
  sinceMs: number;
  untilMs: number;
}

/** By provider and credential. */
export const measuredAttempts = async (storage: Storage, range: Range): Promise<MeasuredGroups> =>
  grouped(await selectAttempts(storage, range), "answered", ["answered", "abandoned"]);

/** By model and provider. */
export const measuredSpeeds = async (storage: Storage, range: Range): Promise<MeasuredGroups> =>
  grouped(await selectSpeeds(storage, range), "ok", ["ok", "client_gone"]);

const grouped = ({ fromMs, counts }: Measured, answered: string, harmless: readonly string[]): MeasuredGroups => {
  const byFirst = Map.groupBy(counts, ({ groups }) => groups[0] ?? "");
  return {
    fromMs,
    of: (...asked) => {
      const [first, ...rest] = asked;
      const candidates = first === undefined ? counts : (byFirst.get(first) ?? []);
      const found = candidates.filter(({ groups }) =>
        rest.every((one, index) => one === undefined || groups[index + 1] === one),
      );
      return found.length === 0 ? undefined : summed(found, answered, harmless);
    },
  };
};

function summed(counts: readonly MeasuredCount[], answered: string, harmless: readonly string[]): MeasuredGroup {
  const sum = (some: readonly MeasuredCount[], of: (count: MeasuredCount) => number) =>
    some.reduce((total, count) => total + of(count), 0);
  const timed = counts.filter((count) => count.outcome === answered && count.class >= 0);
  const streamMs = sum(counts, (count) => count.streamMs);
  const tokens = sum(counts, ({ streamedTokens }) => streamedTokens);
  return {
    calls: sum(counts, ({ calls }) => calls),
    failures: sum(
      counts.filter(({ outcome }) => !harmless.includes(outcome)),
      ({ calls }) => calls,
    ),
    firstContentMs: { p50: quantileOf(timed, 0.5) ?? null, p95: quantileOf(timed, 0.95) ?? null },
    tokensPerSecond: streamMs > 0 && tokens > 0 ? Math.round((tokens * 10_000) / streamMs) / 10 : null,
  };
}
