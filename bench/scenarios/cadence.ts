import { finishHeld } from "../finish-held.ts";
import type { Child } from "../processes.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { NATIVE_PAIRS, nameOf, PAIRS, type Pair, SOME_PAIRS } from "../translated-pairs.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

/** As many as two CPUs can serve next to the upstream and the clients. */
const STREAMS = 250;
const CHUNKS_PER_SECOND = 20;
/** Streams at full speed before the first window: else what the runtime spends on compiling the program is measured. */
const WARM_UP = { streams: 400, chunks: 200 } as const;
/** After opening, so that connections and first answers are not measured. */
const SETTLE_MS = 500;
/** Below this share of the chunks that were due, the machine could not keep up the rate, and the figure means nothing. */
const MIN_SHARE = 0.8;

export const cadence: Scenario = {
  id: "cadence",
  title: `${STREAMS} streams with ${CHUNKS_PER_SECOND} chunks a second each, spread evenly`,
  async *run(bench) {
    yield await measureRow(bench, undefined);
    for (const pair of NATIVE_PAIRS) if (pair[0] !== "chat") yield await measureRow(bench, pair);
    for (const pair of bench.quick ? SOME_PAIRS : PAIRS) yield await measureRow(bench, pair);
  },
};

/** A row of chat, or of a pair: the bare proxy passes on a stream in the client's own protocol, as it can do nothing else. */
async function measureRow(bench: Bench, pair: Pair | undefined): Promise<Row> {
  const windowMs = bench.quick ? 1_500 : 3_000;
  const rounds = await inTurns(bench, {
    names: pair ? ["bare", "gateway"] : ["bare", "gateway", "nginx"],
    dialects: pair,
    rounds: bench.quick ? 1 : 3,
    warmUp: (child) => (bench.quick ? Promise.resolve() : warmUp(bench, child.url, pair)),
    measure: (child) => measureStreams(bench, child, pair, windowMs),
  });
  const result = summary(rounds);
  const target = atMost(pair && pair[0] !== pair[1] ? 1.5 : 1.25, "× bare", result.ratios.gateway ?? Number.NaN);
  return { measure: `CPU per chunk, ${pair ? nameOf(pair) : "chat"}`, unit: "µs", ...result, target };
}

async function warmUp({ load, upstream }: Bench, url: string, pair: Pair | undefined): Promise<void> {
  const { streams, chunks } = WARM_UP;
  await upstream.plan({ burst: chunks, between: "turn" });
  if (pair === undefined) await load.stream({ url, streams, atOnce: 8, contentChunks: chunks });
  else await load.translatedStream({ url, pair, requests: streams, atOnce: 8 });
}

async function measureStreams(bench: Bench, child: Child, pair: Pair | undefined, windowMs: number): Promise<number> {
  const { load, upstream } = bench;
  await upstream.plan({ chunksPerSecond: CHUNKS_PER_SECOND });
  await load.hold({ url: child.url, streams: STREAMS, pair });
  await Bun.sleep(SETTLE_MS);
  const cost = await cpuMicrosecondsPer(child, async () => {
    const before = await load.held();
    const startMs = performance.now();
    await Bun.sleep(windowMs);
    const chunks = (await load.held()) - before;
    const due = (STREAMS * CHUNKS_PER_SECOND * (performance.now() - startMs)) / 1000;
    if (chunks < due * MIN_SHARE) throw new Error(`only ${chunks} of ${Math.round(due)} chunks came in time`);
    return chunks;
  });
  await finishHeld(bench, { streams: STREAMS, translated: pair !== undefined });
  return cost;
}
