import type { ContenderName } from "./contenders.ts";
import { cpuMicroseconds } from "./proc.ts";
import type { Child } from "./processes.ts";
import type { Bench, Row } from "./scenario.ts";
import { median } from "./statistics.ts";

/** What each contender measured, round by round. */
export type Rounds = Map<ContenderName, number[]>;

interface TurnsOptions {
  names: readonly ContenderName[];
  rounds: number;
  /**
   * So many processes of each contender, started for these turns alone, of which each round takes the mean. How the runtime lays out and
   * compiles a program differs from process to process, by up to a tenth of what a call costs. Absent: the ones that are kept.
   */
  processes?: number;
  /** The protocols that are spoken: a contender that does not know them is left out. */
  dialects?: readonly string[] | undefined;
  warmUp: (child: Child) => Promise<unknown>;
  measure: (child: Child) => Promise<number>;
}

type Started = readonly [name: ContenderName, child: Child];

/** A B C, C B A, A B C …: whatever else happens on the machine then falls on all of them. The shorter the turns, the truer that is. */
export async function inTurns(bench: Bench, options: TurnsOptions): Promise<Rounds> {
  const { processes, rounds, warmUp, measure } = options;
  const names = bench.contenders.present(options.names, options.dialects);
  const started: Started[] = [];
  for (let process = 0; process < (processes ?? 1); process++) {
    for (const name of names) {
      const child = await (processes === undefined ? bench.contenders.kept(name) : bench.contenders.fresh(name));
      started.push([name, child]);
    }
  }
  for (const [name, child] of started) await blaming(name, warmUp(child));
  const results: Rounds = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const sums = new Map<ContenderName, number>();
    for (const [name, child] of round % 2 === 0 ? started : started.toReversed()) {
      sums.set(name, (sums.get(name) ?? 0) + (await blaming(name, measure(child))));
    }
    for (const [name, sum] of sums) results.get(name)?.push(sum / (processes ?? 1));
  }
  if (processes !== undefined) for (const [, child] of started) await child.stop();
  return results;
}

/** A failure names the contender. */
export async function blaming<T>(name: ContenderName, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** CPU of the child in microseconds for each unit of the work, which resolves with how many units it was. */
export async function cpuMicrosecondsPer(child: Child, work: () => Promise<number>): Promise<number> {
  const before = cpuMicroseconds(child.pids);
  const units = await work();
  return (cpuMicroseconds(child.pids) - before) / units;
}

/** The ratio of two contenders in each round, then the median: a disturbed round spoils one ratio, not the result. */
export function medianRatio(rounds: Rounds, name: ContenderName, yardstick: ContenderName): number {
  const divisors = rounds.get(yardstick) ?? [];
  return median((rounds.get(name) ?? []).map((value, round) => value / (divisors[round] ?? Number.NaN)));
}

/** The same for differences. */
export function medianDifference(rounds: Rounds, name: ContenderName, yardstick: ContenderName): number {
  const others = rounds.get(yardstick) ?? [];
  return median((rounds.get(name) ?? []).map((value, round) => value - (others[round] ?? Number.NaN)));
}

/** Ratios are relative to the bare proxy, if it was measured. */
export function summary(rounds: Rounds): Pick<Row, "values" | "ratios" | "rounds"> {
  const names = [...rounds.keys()];
  return {
    values: Object.fromEntries(names.map((name) => [name, median(rounds.get(name) ?? [])])),
    ratios: rounds.has("bare")
      ? Object.fromEntries(names.map((name) => [name, medianRatio(rounds, name, "bare")]))
      : {},
    rounds: Object.fromEntries(rounds),
  };
}
