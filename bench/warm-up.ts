import type { ContenderName } from "./contenders.ts";
import type { Bench } from "./scenario.ts";

const CALLS = 40_000;
const STREAMS = 8_000;
const CHUNKS = 2;

/**
 * Those of the names that this machine has, with their URLs, after calls and streams of each: a process that has served for some minutes has compiled its
 * program, and one that was just started has not.
 */
export async function warmContenders(
  { contenders, load, upstream, quick }: Bench,
  names: readonly ContenderName[],
): Promise<(readonly [name: ContenderName, url: string])[]> {
  const share = quick ? 0.02 : 1;
  const warm: (readonly [ContenderName, string])[] = [];
  await upstream.plan({ burst: CHUNKS, between: "turn" });
  for (const name of contenders.present(names)) {
    const { url } = await contenders.kept(name);
    await load.unary({ url, body: "small", requests: CALLS * share, atOnce: 16 });
    await load.stream({ url, streams: STREAMS * share, atOnce: 8, contentChunks: CHUNKS });
    warm.push([name, url]);
  }
  return warm;
}
