import type { ContenderName } from "../contenders.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { quantile } from "../statistics.ts";
import { nameOf, type Pair, SOME_PAIRS } from "../translated-pairs.ts";
import { warmContenders } from "../warm-up.ts";

const STREAMS = 20;
/** Before those that count. */
const FIRST_ROUNDS = 5;
/** The end must not come with the content: the gateway keeps the last chunk until its ledger is written. */
const PAUSE_MS = 3;
/** Of each pair, after the calls of `warmContenders`. */
const WARM_UP_STREAMS = 2_000;

type Warm = readonly (readonly [name: ContenderName, url: string])[];

export const firstContent: Scenario = {
  id: "first-content",
  title: `time to the first content, ${STREAMS} streams begun at once`,
  async *run(bench) {
    const warm = await warmContenders(bench, ["bare", "gateway", "nginx"]);
    await bench.upstream.plan({ burst: 2, between: PAUSE_MS });
    const chat = await measureInTurns(bench, warm);
    yield rowOf("median", chat, { share: 0.5, limit: 1.5 });
    yield rowOf("p95", chat, { share: 0.95, limit: 1.5 });
    for (const pair of SOME_PAIRS) yield await measurePair(bench, warm, pair);
  },
};

/** The bare proxy passes on a stream in the client's own protocol: it can do nothing else. */
async function measurePair(bench: Bench, warm: Warm, pair: Pair): Promise<Row> {
  const contenders = warm.filter(([name]) => name !== "nginx");
  const requests = bench.quick ? 50 : WARM_UP_STREAMS;
  for (const [, url] of contenders) await bench.load.translatedStream({ url, pair, requests, atOnce: 8 });
  const times = await measureInTurns(bench, contenders, pair);
  return rowOf(`median, ${nameOf(pair)}`, times, { share: 0.5, limit: 2 });
}

/** Of every contender all streams of all rounds, in milliseconds. */
async function measureInTurns({ load, quick }: Bench, warm: Warm, pair?: Pair): Promise<Map<ContenderName, number[]>> {
  const times = new Map<ContenderName, number[]>(warm.map(([name]) => [name, []]));
  for (let round = -FIRST_ROUNDS; round < (quick ? 20 : 80); round++) {
    for (const [name, url] of warm) {
      const measured = await load.firstContents({ url, streams: STREAMS, pair });
      if (round >= 0) times.get(name)?.push(...measured);
    }
  }
  return times;
}

/** The quantile of this share, which should be at most `limit` times that of the bare proxy. */
function rowOf(
  kind: string,
  times: ReadonlyMap<ContenderName, readonly number[]>,
  { share, limit }: { share: number; limit: number },
): Row {
  const values = new Map([...times].map(([name, list]) => [name, quantile(list, share)]));
  const bare = values.get("bare") ?? Number.NaN;
  const ratios = new Map([...values].map(([name, value]) => [name, value / bare]));
  return {
    measure: `first content, ${STREAMS} streams at once, ${kind}`,
    unit: "ms",
    values: Object.fromEntries(values),
    ratios: Object.fromEntries(ratios),
    target: atMost(limit, "× bare", ratios.get("gateway") ?? Number.NaN),
  };
}
