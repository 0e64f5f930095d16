/** The maximum within the last one to two seconds. */
export class RecentPeak {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #now = 0;
  #before = 0;

  note(value: number, nowMs: number): void {
    this.#turn(nowMs);
    if (value > this.#now) this.#now = value;
  }

  at(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#now, this.#before);
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs < PERIOD_MS) return;
    this.#before = passedMs < 2 * PERIOD_MS ? this.#now : 0;
    this.#now = 0;
    this.#sinceMs = nowMs;
  }
}

const PERIOD_MS = 1_000;
