import type { ContenderName } from "../contenders.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { quantile } from "../statistics.ts";
import { warmContenders } from "../warm-up.ts";

const STREAMS = 20;
/** Before those that count. */
const FIRST_ROUNDS = 5;
/** The end must not come with the content: the gateway keeps the last chunk until its ledger is written. */
const PAUSE_MS = 3;

export const firstContent: Scenario = {
  id: "first-content",
  title: `time to the first content, ${STREAMS} streams begun at once`,
  run: async (bench) => {
    const warm = await warmContenders(bench, ["bare", "gateway", "nginx"]);
    await bench.upstream.plan({ burst: 2, between: PAUSE_MS });
    const times = await measureInTurns(bench, warm);
    return [rowOf("median", times, 0.5), rowOf("p95", times, 0.95)];
  },
};

/** Of every contender all streams of all rounds, in milliseconds. */
async function measureInTurns(
  { load, quick }: Bench,
  warm: readonly (readonly [name: ContenderName, url: string])[],
): Promise<Map<ContenderName, number[]>> {
  const times = new Map<ContenderName, number[]>(warm.map(([name]) => [name, []]));
  for (let round = -FIRST_ROUNDS; round < (quick ? 20 : 80); round++) {
    for (const [name, url] of warm) {
      const measured = await load.firstContents({ url, streams: STREAMS });
      if (round >= 0) times.get(name)?.push(...measured);
    }
  }
  return times;
}

function rowOf(kind: string, times: ReadonlyMap<ContenderName, readonly number[]>, share: number): Row {
  const values = new Map([...times].map(([name, list]) => [name, quantile(list, share)]));
  const bare = values.get("bare") ?? Number.NaN;
  return {
    measure: `first content, ${STREAMS} streams at once, ${kind}`,
    unit: "ms",
    values: Object.fromEntries(values),
    ratios: Object.fromEntries([...values].map(([name, value]) => [name, value / bare])),
    target: atMost(0.8, "ms over bare", (values.get("gateway") ?? Number.NaN) - bare),
  };
}
