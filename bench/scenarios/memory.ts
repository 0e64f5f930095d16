import { residentMegabytes } from "../proc.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { blaming, type Rounds, summary } from "../turns.ts";

const STREAMS = 1_000;
const REST_MS = 1_000;
const SAMPLE_EVERY_MS = 250;

export const memory: Scenario = {
  id: "memory",
  title: `resident size of fresh processes, at rest and with ${STREAMS} open streams of one chunk a second`,
  run: async (bench) => {
    const atRest: Rounds = new Map();
    const withStreams: Rounds = new Map();
    for (const name of bench.contenders.present(["bare", "gateway", "nginx"])) {
      const child = await bench.contenders.fresh(name);
      await Bun.sleep(REST_MS);
      atRest.set(name, [residentMegabytes(child.pids)]);
      withStreams.set(name, [await blaming(name, largestWithStreams(bench, child.url, child.pids))]);
      await child.stop();
    }
    return [row("resident at rest", atRest), row("resident with 1,000 open streams", withStreams)];
  },
};

function row(measure: string, sizes: Rounds): Row {
  const { values, ratios } = summary(sizes);
  return { measure, unit: "MB", values, ratios, target: atMost(150, "MB", values.gateway ?? Number.NaN) };
}

async function largestWithStreams({ load, upstream, quick }: Bench, url: string, pids: readonly number[]) {
  await upstream.plan({ chunksPerSecond: 1 });
  await load.hold({ url, streams: STREAMS });
  let largest = 0;
  for (let sample = 0; sample < (quick ? 4 : 16); sample++) {
    await Bun.sleep(SAMPLE_EVERY_MS);
    largest = Math.max(largest, residentMegabytes(pids));
  }
  const sent = await upstream.finish();
  const received = await load.ended();
  if (received !== sent) throw new Error(`${sent} content chunks were sent, but ${received} arrived`);
  return largest;
}
