/** The age at which a measurement counts half. */
export const HALF_LIFE_MS = 300_000;
/** After this time without new samples, the measurement is stale. */
const STALE_MS = 6 * HALF_LIFE_MS;

/** The ratio of two decaying sums: an average if the second counts samples, a rate if it is a duration. */
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
