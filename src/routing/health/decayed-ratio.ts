/** The age at which a measurement counts half. */
export const HALF_LIFE_MS = 300_000;
/** After this time without new samples, the measurement is stale. */
const STALE_MS = 6 * HALF_LIFE_MS;

const NONE = { above: 0, below: 0 };

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
    const { above, below } = this.sumsAt(nowMs);
    return below === 0 ? undefined : above / below;
  }

  /** Both sums; 0 if they are stale. */
  sumsAt(nowMs: number): { above: number; below: number } {
    if (this.#below === 0 || nowMs - this.#atMs > STALE_MS) return NONE;
    const faded = 2 ** ((this.#atMs - nowMs) / HALF_LIFE_MS);
    return { above: this.#above * faded, below: this.#below * faded };
  }
}
