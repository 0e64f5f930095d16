import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { PAIRS, type Pair } from "../translated-pairs.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

const CHUNKS = 200;

export const translatedChunks: Scenario = {
  id: "translated-chunks",
  title: `${CHUNKS} chunks, a write each, the host speaking another protocol than the client, 8 streams at once`,
  async *run(bench) {
    await bench.upstream.plan({ burst: CHUNKS, between: "turn" });
    for (const pair of PAIRS) yield await measurePair(bench, pair);
  },
};

/** The bare proxy passes on a stream in the client's own protocol: it can do nothing else. */
async function measurePair(bench: Bench, pair: Pair): Promise<Row> {
  const streams = bench.quick ? 150 : 400;
  const call = (url: string, count: number) => bench.load.translatedStream({ url, pair, requests: count, atOnce: 8 });
  const rounds = await inTurns(bench, {
    names: ["bare", "gateway"],
    dialects: pair,
    rounds: bench.quick ? 2 : 4,
    warmUp: ({ url }) => call(url, bench.quick ? streams / 2 : streams * 2),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url, streams).then(() => streams * CHUNKS)),
  });
  const result = summary(rounds);
  const target = atMost(2, "× bare", result.ratios.gateway ?? Number.NaN);
  return { measure: `CPU per chunk, ${pair.join(" to ")}`, unit: "µs", ...result, target };
}
