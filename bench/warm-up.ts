import type { Bench } from "./scenario.ts";

const CALLS = 40_000;
const STREAMS = 8_000;
const CHUNKS = 2;

/** Calls and streams before times are measured: a process that has served for some minutes has compiled its program, and one that was just started has not. */
export async function warmUp({ load, upstream, quick }: Bench, urls: readonly string[]): Promise<void> {
  const share = quick ? 0.02 : 1;
  await upstream.plan({ burst: CHUNKS, between: "turn" });
  for (const url of urls) {
    await load.unary({ url, body: "small", requests: CALLS * share, atOnce: 16 });
    await load.stream({ url, streams: STREAMS * share, atOnce: 8, contentChunks: CHUNKS });
  }
}
