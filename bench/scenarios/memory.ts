import { finishHeld } from "../finish-held.ts";
import { residentMegabytes } from "../proc.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { blaming, type Rounds, summary } from "../turns.ts";

const STREAMS = 1_000;
const REST_MS = 1_000;
const SAMPLE_EVERY_MS = 250;
const LARGE_AT_ONCE = 16;

export const memory: Scenario = {
  id: "memory",
  title: `resident size of fresh processes, at rest, with ${STREAMS} open streams of one chunk a second, and with ${LARGE_AT_ONCE} requests of 300 KB at once`,
  run: async (bench) => {
    const atRest: Rounds = new Map();
    const withStreams: Rounds = new Map();
    const withLarge: Rounds = new Map();
    for (const name of bench.contenders.present(["bare", "gateway", "nginx"])) {
      const child = await bench.contenders.fresh(name);
      await Bun.sleep(REST_MS);
      atRest.set(name, [residentMegabytes(child.pids)]);
      withStreams.set(name, [await blaming(name, largestWithStreams(bench, child.url, child.pids))]);
      withLarge.set(name, [await blaming(name, largestWithLarge(bench, child.url, child.pids))]);
      await child.stop();
    }
    return [
      row("resident at rest", atRest, 55),
      row("resident with 1,000 open streams", withStreams, 150),
      row(`resident with ${LARGE_AT_ONCE} large requests`, withLarge, 140),
    ];
  },
};

function row(measure: string, sizes: Rounds, limit: number): Row {
  const { values, ratios } = summary(sizes);
  return { measure, unit: "MB", values, ratios, target: atMost(limit, "MB", values.gateway ?? Number.NaN) };
}

async function largestWithStreams({ load, upstream, quick }: Bench, url: string, pids: readonly number[]) {
  await upstream.plan({ chunksPerSecond: 1 });
  await load.hold({ url, streams: STREAMS });
  let largest = 0;
  for (let sample = 0; sample < (quick ? 4 : 16); sample++) {
    await Bun.sleep(SAMPLE_EVERY_MS);
    largest = Math.max(largest, residentMegabytes(pids));
  }
  await finishHeld({ load, upstream }, { streams: STREAMS });
  return largest;
}

async function largestWithLarge({ load, quick }: Bench, url: string, pids: readonly number[]) {
  let largest = 0;
  const sampling = setInterval(() => {
    largest = Math.max(largest, residentMegabytes(pids));
  }, SAMPLE_EVERY_MS / 5);
  try {
    await load.unary({ url, body: "large", requests: quick ? 400 : 1_600, atOnce: LARGE_AT_ONCE });
  } finally {
    clearInterval(sampling);
  }
  return largest;
}
