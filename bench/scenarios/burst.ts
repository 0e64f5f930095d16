import { EVENTS_AROUND_CONTENT } from "../bodies.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

const CHUNKS = 200;
/**
 * In turns. Until then a part of what is measured is the compiling of the program, which goes by how often its functions are called,
 * and a larger program compiles for longer: after 4,000 streams with a write each, two versions differed by a tenth that cost the same
 * after 20,000.
 */
const WARM_UP = { turn: 200, nothing: 300 } as const;

export const burst: Scenario = {
  id: "burst",
  title: `${CHUNKS} chunks as fast as the upstream can, 8 streams at once`,
  run: async function* (bench) {
    yield await measureBursts(bench, "CPU per chunk in a burst, a write each", "turn", 100);
    yield await measureBursts(bench, "CPU per chunk in a burst, joined writes", "nothing", 250);
  },
};

async function measureBursts(
  bench: Bench,
  measure: string,
  between: keyof typeof WARM_UP,
  streams: number,
): Promise<Row> {
  await bench.upstream.plan({ burst: CHUNKS, between });
  const call = (url: string, count: number) =>
    bench.load.stream({ url, streams: count, atOnce: 8, contentChunks: CHUNKS });
  const rounds = await inTurns(bench, {
    names: ["bare", "gateway", "nginx"],
    rounds: bench.quick ? 4 : 30,
    processes: bench.quick ? 1 : 3,
    warmUp: ({ url }) => call(url, bench.quick ? streams : streams * WARM_UP[between]),
    measure: (child) =>
      cpuMicrosecondsPer(child, () => call(child.url, streams).then(() => streams * (CHUNKS + EVENTS_AROUND_CONTENT))),
  });
  const result = summary(rounds);
  return { measure, unit: "µs", ...result, target: atMost(2, "× bare", result.ratios.gateway ?? Number.NaN) };
}
