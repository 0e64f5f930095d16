const FIRST_MS = 5_000;
const FACTOR = 3;
const HOUR_MS = 3_600_000;

/** The longest pause between two attempts. */
export const MAX_PAUSE_MS = 2 * HOUR_MS;

/**
 * The pauses between attempts; after the last one the delivery has failed. Attempts are counted instead of hours,
 * because the clock may be changed.
 */
export function pausesFor(hours: number): number[] {
  const pauses: number[] = [];
  let leftMs = hours * HOUR_MS;
  for (let pauseMs = FIRST_MS; leftMs > 0; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * FACTOR)) {
    pauses.push(Math.min(pauseMs, Math.ceil(leftMs)));
    leftMs -= pauseMs;
  }
  return pauses;
}
