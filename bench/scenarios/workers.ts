import { availableParallelism } from "node:os";
import type { Child } from "../processes.ts";
import type { Bench, Row, Scenario, Target } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, summary } from "../turns.ts";

/** The load and the upstream are processes, too: with fewer processors, two workers have no more than one process has. */
const ENOUGH_PROCESSORS = 4;

export const workers: Scenario = {
  id: "workers",
  title: "two workers beside one process",
  run: async (bench) => {
    const requests = bench.quick ? 3_000 : 12_000;
    const call = (url: string) => bench.load.unary({ url, body: "small", requests, atOnce: 128 });
    const throughput = async ({ url }: Child) => {
      const startMs = performance.now();
      await call(url);
      return (requests * 1000) / (performance.now() - startMs);
    };
    const cpu = (child: Child) => cpuMicrosecondsPer(child, () => call(child.url).then(() => requests));
    const called = ({ url }: Child) => call(url);
    return [
      await measured(bench, "calls a second, 1 KB body, 128 at once", "/s", called, throughput, asked),
      await measured(bench, "CPU per request, 1 KB body, 128 at once", "µs", called, cpu, () => undefined),
    ];
  },
};

async function measured(
  bench: Bench,
  measure: string,
  unit: string,
  warmUp: (child: Child) => Promise<void>,
  once: (child: Child) => Promise<number>,
  targetOf: (ratio: number) => Target | undefined,
): Promise<Row> {
  const names = ["bare", "gateway", "workers"] as const;
  const rounds = await inTurns(bench, { names, rounds: bench.quick ? 2 : 5, warmUp, measure: once });
  const target = targetOf(medianRatio(rounds, "workers", "gateway"));
  return { measure, unit, ...summary(rounds), ...(target && { target }) };
}

function asked(value: number): Target {
  if (availableParallelism() < ENOUGH_PROCESSORS) return { text: "× one process, on few processors", value, met: true };
  return { text: "≥ 1.5 × one process", value, met: value >= 1.5 };
}
