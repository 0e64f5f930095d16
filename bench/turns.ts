import type { ContenderName } from "./contenders.ts";
import { cpuSeconds } from "./proc.ts";
import type { Child } from "./processes.ts";
import type { Bench, Row } from "./scenario.ts";
import { median } from "./statistics.ts";

/** What each contender measured, round by round. */
export type Rounds = Map<ContenderName, number[]>;

interface TurnsOptions {
  names: readonly ContenderName[];
  rounds: number;
  warmUp: (child: Child) => Promise<unknown>;
  measure: (child: Child) => Promise<number>;
}

/** A B C A B C …: whatever else happens on the machine then falls on all of them. */
export async function inTurns(bench: Bench, { names, rounds, warmUp, measure }: TurnsOptions): Promise<Rounds> {
  const children: [ContenderName, Child][] = [];
  for (const name of bench.contenders.present(names)) children.push([name, await bench.contenders.kept(name)]);
  for (const [name, child] of children) await blaming(name, warmUp(child));
  const results: Rounds = new Map(children.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, child] of children) {
      results.get(name)?.push(await blaming(name, measure(child)));
    }
  }
  return results;
}

/** A failure says which contender it was. */
export async function blaming<T>(name: ContenderName, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** CPU of the child in microseconds for each unit of the work, which resolves with how many units it was. */
export async function cpuMicrosecondsPer(child: Child, work: () => Promise<number>): Promise<number> {
  const before = cpuSeconds(child.pids);
  const units = await work();
  return ((cpuSeconds(child.pids) - before) * 1e6) / units;
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

export function summary(rounds: Rounds): Pick<Row, "values" | "ratios" | "rounds"> {
  const names = [...rounds.keys()];
  return {
    values: Object.fromEntries(names.map((name) => [name, median(rounds.get(name) ?? [])])),
    ratios: Object.fromEntries(names.map((name) => [name, medianRatio(rounds, name, "bare")])),
    rounds: Object.fromEntries(rounds),
  };
}
