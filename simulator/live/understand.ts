import { hear } from "../voice/hear.ts";

/** Quieter than this is silence, of 32,767. */
const SILENCE = 200;
/** A pause of this length separates sentences. Within one there is none. */
const PAUSE_SECONDS = 0.06;

/** Where the sound is, without the silence before, between and after. */
function stretchesOf(samples: Int16Array, rate: number): Int16Array[] {
  const pause = Math.round(PAUSE_SECONDS * rate);
  const stretches: Int16Array[] = [];
  let from = -1;
  let last = -1;
  for (let at = 0; at <= samples.length; at++) {
    const isLoud = Math.abs(samples[at] ?? 0) > SILENCE;
    if (from >= 0 && (at === samples.length || (isLoud && at - last > pause))) {
      stretches.push(samples.subarray(from, last + 1));
      from = -1;
    }
    if (!isLoud) continue;
    if (from < 0) from = at;
    last = at;
  }
  return stretches;
}

/** What is said in a recording, in the simulator's own voice; undefined where no words are understood. */
export function understand(samples: Int16Array, rate: number): string | undefined {
  const sentences = stretchesOf(samples, rate).flatMap((stretch) => {
    const { text } = hear(stretch, rate);
    return text === undefined || text === "" ? [] : [text];
  });
  return sentences.length === 0 ? undefined : sentences.join(" ");
}
