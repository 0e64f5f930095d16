import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { PAIRS, type Pair } from "../translated-pairs.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, summary } from "../turns.ts";

export const translated300Kb: Scenario = {
  id: "translated-300kb",
  title: "the same request of 300 KB, its host speaking another protocol than its client, 8 calls at once",
  async *run(bench) {
    for (const pair of PAIRS) yield await measurePair(bench, pair);
  },
};

/** A proxy that parses the client's protocol and writes the same again does half of the work, and is the bar. */
async function measurePair(bench: Bench, pair: Pair): Promise<Row> {
  const call = (url: string, requests: number) => bench.load.translated({ url, pair, requests, atOnce: 8 });
  const requests = bench.quick ? 150 : 300;
  const rounds = await inTurns(bench, {
    names: ["bare", "gateway", "reserialising"],
    dialects: pair,
    rounds: bench.quick ? 2 : 4,
    // So many until the runtime has compiled a translation: before that it costs twice as much.
    warmUp: ({ url }) => call(url, bench.quick ? requests : requests * 5),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url, requests).then(() => requests)),
  });
  const target = atMost(0.95, "× re-serialising", medianRatio(rounds, "gateway", "reserialising"));
  return { measure: `CPU per request, 300 KB, ${pair.join(" to ")}`, unit: "µs", ...summary(rounds), target };
}
