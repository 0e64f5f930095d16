import type { ContenderName } from "../contenders.ts";
import { residentMegabytes } from "../proc.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { blaming } from "../turns.ts";

interface Reading {
  requests: number;
  megabytes: number;
}

/** Every tenth call streams, so that both roads are walked. */
const STREAMED_SHARE = 0.1;
const STREAM_CHUNKS = 20;
const SAMPLE_EVERY_MS = 250;
/** A leak of a hundred bytes a call; settled sizes were seen to differ by less. */
const MAX_GROWTH_PER_10_000 = 1;

/**
 * Bun gives memory back only some seconds after the last call, the later the more had been in use, so the size that
 * counts is the smallest of a long pause. A quick run's pauses are too short
 * for that: its growth is shown, but not judged.
 */
const PLANS = {
  full: { readAt: [5_000, 20_000, 50_000], settleMs: 12_000 },
  quick: { readAt: [1_000, 5_000, 10_000], settleMs: 2_500 },
};

export const growth: Scenario = {
  id: "growth",
  title: "resident size of fresh processes as calls go by",
  run: async (bench) => {
    const plan = bench.quick ? PLANS.quick : PLANS.full;
    await bench.upstream.plan({ burst: STREAM_CHUNKS, between: "nothing" });
    // No CPU is measured here, so they need not take turns.
    const names = bench.contenders.present(["bare", "gateway"]);
    const readings = new Map(
      await Promise.all(
        names.map(
          async (name): Promise<[ContenderName, Reading[]]> => [
            name,
            await blaming(name, readAlong(bench, name, plan)),
          ],
        ),
      ),
    );
    const sizes = plan.readAt.map((requests, index) =>
      row(`resident after ${requests.toLocaleString("en")} calls`, readings, (all) => all[index]?.megabytes),
    );
    const growing = row("growth in the last part, per 10,000 calls", readings, ([, middle, end]) => {
      if (!middle || !end) return undefined;
      return (end.megabytes - middle.megabytes) / ((end.requests - middle.requests) / 10_000);
    });
    growing.ratios = {};
    if (!bench.quick) growing.target = atMost(MAX_GROWTH_PER_10_000, "MB", growing.values.gateway ?? Number.NaN);
    return [...sizes, growing];
  },
};

async function readAlong(
  { contenders, load }: Bench,
  name: ContenderName,
  plan: typeof PLANS.full,
): Promise<Reading[]> {
  const child = await contenders.fresh(name);
  const { url, pids } = child;
  const readings: Reading[] = [];
  let made = 0;
  for (const requests of plan.readAt) {
    const streams = Math.round((requests - made) * STREAMED_SHARE);
    await load.stream({ url, streams, atOnce: 8, contentChunks: STREAM_CHUNKS });
    await load.unary({ url, body: "small", requests: requests - made - streams, atOnce: 16 });
    made = requests;
    readings.push({ requests, megabytes: await smallestWithin(plan.settleMs, pids) });
  }
  await child.stop();
  return readings;
}

async function smallestWithin(milliseconds: number, pids: readonly number[]): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let passed = 0; passed < milliseconds; passed += SAMPLE_EVERY_MS) {
    await Bun.sleep(SAMPLE_EVERY_MS);
    smallest = Math.min(smallest, residentMegabytes(pids));
  }
  return smallest;
}

function row(
  measure: string,
  readings: ReadonlyMap<ContenderName, readonly Reading[]>,
  pick: (readings: readonly Reading[]) => number | undefined,
): Row {
  const values = Object.fromEntries([...readings].map(([name, all]) => [name, pick(all) ?? Number.NaN]));
  const { bare = Number.NaN } = values;
  const ratios = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value / bare]));
  return { measure, unit: "MB", values, ratios };
}
