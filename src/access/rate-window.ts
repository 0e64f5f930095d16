const SLOTS = 60;

/** What was used in the last minute, in slots of one second, so that it takes the same memory whatever the limit is. */
export class RateWindow {
  /** Of the seconds that are over. */
  readonly #slots = new Float64Array(SLOTS);
  #second: number;
  /** Used in the second under way: what calls add, and mostly what they correct. */
  #current = 0;
  /** When the next second begins. */
  #nextMs: number;
  #total = 0;

  constructor(nowMs: number) {
    this.#second = secondOf(nowMs);
    this.#nextMs = (this.#second + 1) * 1000;
  }

  used(nowMs: number): number {
    this.#advance(nowMs);
    return this.#total;
  }

  add(nowMs: number, amount: number): void {
    this.#advance(nowMs);
    this.#current += amount;
    this.#total += amount;
  }

  /**
   * Replaces the amount that was added at `addedMs` with the true one. If that second is over a minute ago,
   * nothing is left to take back, and only what exceeds it still counts, from now on.
   */
  correct(addedMs: number, nowMs: number, added: number, actual: number): void {
    this.#advance(nowMs);
    const second = secondOf(addedMs);
    if (second > this.#second - SLOTS) this.#put(second, actual - added);
    else if (actual > added) this.#put(this.#second, actual - added);
  }

  /** Seconds, 1 to 60, until `amount` more fits under `limit`. */
  secondsUntilFree(nowMs: number, limit: number, amount: number): number {
    this.#advance(nowMs);
    let left = this.#total;
    for (let seconds = 1; seconds < SLOTS; seconds += 1) {
      left -= this.#slots[(this.#second + seconds) % SLOTS] ?? 0;
      if (left + amount <= limit) return seconds;
    }
    return SLOTS;
  }

  /** Seconds until nothing of the last minute counts any more. */
  secondsUntilEmpty(nowMs: number): number {
    this.#advance(nowMs);
    if (this.#current !== 0) return SLOTS;
    for (let seconds = SLOTS - 1; seconds > 0; seconds -= 1) {
      if (this.#slots[(this.#second + seconds) % SLOTS] !== 0) return seconds;
    }
    return 0;
  }

  #put(second: number, amount: number): void {
    this.#total += amount;
    if (second === this.#second) {
      this.#current += amount;
      return;
    }
    const slot = second % SLOTS;
    this.#slots[slot] = (this.#slots[slot] ?? 0) + amount;
  }

  /** Forgets what is a minute old. */
  #advance(nowMs: number): void {
    // Asked for several times by each call.
    if (nowMs < this.#nextMs) return;
    const second = secondOf(nowMs);
    this.#slots[this.#second % SLOTS] = this.#current;
    this.#current = 0;
    // However long nothing was used, no more than all slots need be emptied.
    this.#second = Math.max(this.#second, second - SLOTS);
    while (this.#second < second) {
      this.#second += 1;
      const slot = this.#second % SLOTS;
      this.#total -= this.#slots[slot] ?? 0;
      this.#slots[slot] = 0;
    }
    this.#nextMs = (second + 1) * 1000;
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
