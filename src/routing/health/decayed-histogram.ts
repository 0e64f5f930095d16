import { HALF_LIFE_MS } from "./decayed-ratio.ts";

/** Four buckets per doubling, from a millisecond to a quarter of an hour, so that each is less than a fifth wider than the one before. */
const PER_DOUBLING = 4;
const BUCKETS = 20 * PER_DOUBLING;
/** With fewer samples than this, after decay, there is no tail worth reading. */
const MIN_WEIGHT = 20;
/** Weights are rescaled before they overflow. */
const MAX_GROWTH = 2 ** 500;

/** A histogram of durations that decays with time. New samples weigh more instead of old ones less, so adding touches only one bucket. */
export class DecayedHistogram {
  readonly #weights = new Float64Array(BUCKETS);
  #total = 0;
  /** When a sample weighed 1. */
  #originMs: number | undefined;

  add(ms: number, nowMs: number): void {
    this.#originMs ??= nowMs;
    let growth = this.#growthAt(nowMs);
    if (growth > MAX_GROWTH) {
      for (const [at, weight] of this.#weights.entries()) this.#weights[at] = weight / growth;
      this.#total /= growth;
      this.#originMs = nowMs;
      growth = 1;
    }
    const at = Math.min(BUCKETS - 1, Math.max(0, Math.floor(Math.log2(ms) * PER_DOUBLING)));
    this.#weights[at] = (this.#weights[at] ?? 0) + growth;
    this.#total += growth;
  }

  /** The duration that this share of samples did not exceed; undefined while there are too few. */
  quantileAt(share: number, nowMs: number): number | undefined {
    if (this.#total < MIN_WEIGHT * this.#growthAt(nowMs)) return undefined;
    let left = share * this.#total;
    let at = 0;
    for (; at < BUCKETS - 1 && left > (this.#weights[at] ?? 0); at++) left -= this.#weights[at] ?? 0;
    return 2 ** ((at + Math.min(1, left / (this.#weights[at] ?? 0))) / PER_DOUBLING);
  }

  #growthAt(nowMs: number): number {
    return 2 ** ((nowMs - (this.#originMs ?? nowMs)) / HALF_LIFE_MS);
  }
}
