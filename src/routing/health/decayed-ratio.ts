/** What was measured so long ago counts half as much as what is measured now. */
export const HALF_LIFE_MS = 300_000;
/** After so long without anything new, what was measured says nothing of how things are. */
const STALE_MS = 6 * HALF_LIFE_MS;

/** One sum divided by another, both fading with time: an average, where the second counts; a rate, where it is a duration. */
export class DecayedRatio {
  #above = 0;
  #below = 0;
  #atMs = 0;

  add(above: number, below: number, nowMs: number): void {
    const faded = 2 ** ((this.#atMs - nowMs) / HALF_LIFE_MS);
    this.#above = this.#above * faded + above;
    this.#below = this.#below * faded + below;
    this.#atMs = nowMs;
  }

  valueAt(nowMs: number): number | undefined {
    return this.#below === 0 || nowMs - this.#atMs > STALE_MS ? undefined : this.#above / this.#below;
  }
}
