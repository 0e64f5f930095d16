import type { ContenderName } from "../contenders.ts";
import type { Bench, Row, Scenario } from "../scenario.ts";
import { quantile } from "../statistics.ts";
import { warmContenders } from "../warm-up.ts";

/** One at a time, before those that count. */
const FIRST_REQUESTS = 30;
/** The end of a stream must not come with its beginning: the gateway keeps the last chunk until its ledger is written. */
const PAUSE_MS = 3;

export const firstByte: Scenario = {
  id: "first-byte",
  title: "added time to the first byte, one call at a time",
  run: async (bench) => {
    const warm = await warmContenders(bench, ["bare", "gateway", "nginx"]);
    await bench.upstream.plan({ burst: 2, between: PAUSE_MS });
    return [
      ...(await measureAdded(bench, warm, "not streamed", false)),
      ...(await measureAdded(bench, warm, "streamed", true)),
    ];
  },
};

async function measureAdded(
  { load, upstream, quick }: Bench,
  warm: readonly (readonly [name: ContenderName, url: string])[],
  kind: string,
  stream: boolean,
): Promise<Row[]> {
  const targets = [upstream.url, ...warm.map(([, url]) => url)];
  await load.firstBytes({ targets, stream, requests: FIRST_REQUESTS });
  const [direct = [], ...others] = await load.firstBytes({ targets, stream, requests: quick ? 60 : 1_000 });
  const added = new Map(warm.map(([name], index) => [name, others[index] ?? []]));
  return [
    rowOf(`first byte ${kind}, added median`, direct, added, 0.5),
    rowOf(`first byte ${kind}, added p95`, direct, added, 0.95),
  ];
}

/** The difference between the quantiles of two distributions, which is what a client sees. */
function rowOf(
  measure: string,
  direct: readonly number[],
  times: ReadonlyMap<ContenderName, readonly number[]>,
  share: number,
): Row {
  const base = quantile(direct, share);
  const added = [...times].map(([name, values]): [ContenderName, number] => [name, quantile(values, share) - base]);
  const bare = new Map(added).get("bare") ?? Number.NaN;
  return {
    measure,
    unit: "ms",
    values: { direct: base, ...Object.fromEntries(added) },
    // What a bare proxy adds may be lost in the noise, and a ratio to that would mean nothing.
    ratios: bare > 0 ? Object.fromEntries(added.map(([name, value]) => [name, value / bare])) : {},
  };
}
