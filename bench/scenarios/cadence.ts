import type { Child } from "../processes.ts";
import { atMost, type Bench, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

const STREAMS = 500;
const CHUNKS_PER_SECOND = 20;
/** After opening, so that connections and first answers are not measured. */
const SETTLE_MS = 500;
/** Below this share of the chunks that were due, the machine could not keep up the rate, and the figure means nothing. */
const MIN_SHARE = 0.9;

export const cadence: Scenario = {
  id: "cadence",
  title: `${STREAMS} streams with ${CHUNKS_PER_SECOND} chunks a second each, spread evenly`,
  run: async (bench) => {
    const windowMs = bench.quick ? 1_500 : 4_000;
    const rounds = await inTurns(bench, {
      names: ["bare", "gateway", "nginx"],
      rounds: bench.quick ? 1 : 3,
      warmUp: (child) => (bench.quick ? Promise.resolve() : measureStreams(bench, child, 1_000)),
      measure: (child) => measureStreams(bench, child, windowMs),
    });
    const result = summary(rounds);
    const target = atMost(1.5, "× bare", result.ratios.gateway ?? Number.NaN);
    return [{ measure: "CPU per chunk at real cadence", unit: "µs", ...result, target }];
  },
};

async function measureStreams({ load, upstream }: Bench, child: Child, windowMs: number): Promise<number> {
  await upstream.plan({ chunksPerSecond: CHUNKS_PER_SECOND });
  await load.hold({ url: child.url, streams: STREAMS });
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
  const sent = await upstream.finish();
  const received = await load.ended();
  if (received !== sent) throw new Error(`${sent} content chunks were sent, but ${received} arrived`);
  return cost;
}
