/** The end of a lease that its owner gave back. */
const RELEASED_MS = 0;

/**
 * Since when a claim must have expired before it is taken from its owner. While the storage did not answer, no owner could renew
 * its claims: whoever comes back first leaves all of them the time of one lease to do so.
 */
export class ExpiredClaims {
  readonly #leaseMs: number;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** What had expired then is free in any case. */
  #beforeMs = RELEASED_MS + 1;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** The storage has answered. */
  answered(nowMs: number): void {
    if (nowMs - this.#answeredMs > this.#leaseMs / RENEWALS_PER_LEASE) {
      if (nowMs >= this.#untilMs) this.#beforeMs = Math.max(RELEASED_MS + 1, this.#answeredMs);
      this.#untilMs = nowMs + this.#leaseMs;
    }
    this.#answeredMs = nowMs;
  }

  /** A claim whose lease ended before that time may be taken. */
  endedBefore(nowMs: number): number {
    return nowMs < this.#untilMs ? this.#beforeMs : nowMs;
  }
}

/** How often an owner renews its claims while they last. */
export const RENEWALS_PER_LEASE = 3;
