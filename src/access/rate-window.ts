const SLOTS = 60;

/** What was used in the last minute, in slots of one second, so that it takes the same memory whatever the limit is, and next to none when it is idle. */
export class RateWindow {
  #total = 0;
  /** Used in the second under way: what calls add, and mostly what they correct. */
  #current = 0;
  /** When the second under way began. */
  #fromMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Of the seconds that are over; absent where nothing was used in them. */
  #slots: Float64Array | undefined;

  used(nowMs: number): number {
    if (nowMs >= this.#untilMs) this.#advance(nowMs);
    return this.#total;
  }

  add(nowMs: number, amount: number): void {
    if (nowMs >= this.#untilMs) this.#advance(nowMs);
    this.#current += amount;
    this.#total += amount;
  }

  /**
   * Replaces the amount that was added at `addedMs` with the true one. If that second is over a minute ago,
   * nothing is left to take back, and only what exceeds it still counts, from now on.
   */
  correct(addedMs: number, nowMs: number, added: number, actual: number): void {
    if (nowMs >= this.#untilMs) this.#advance(nowMs);
    if (addedMs < this.#fromMs) {
      this.#correctPast(secondOf(addedMs), added, actual);
      return;
    }
    this.#current += actual - added;
    this.#total += actual - added;
  }

  /** Seconds, 1 to 60, until `amount` more fits under `limit`. */
  secondsUntilFree(nowMs: number, limit: number, amount: number): number {
    let left = this.used(nowMs);
    for (let seconds = 1; seconds < SLOTS; seconds += 1) {
      left -= this.#usedIn(this.#second + seconds);
      if (left + amount <= limit) return seconds;
    }
    return SLOTS;
  }

  /** Seconds until nothing of the last minute counts any more. */
  secondsUntilEmpty(nowMs: number): number {
    if (nowMs >= this.#untilMs) this.#advance(nowMs);
    return this.#current === 0 ? this.#secondsOfPast() : SLOTS;
  }

  /** Nothing in it counts any more. */
  drop(): void {
    this.#total = 0;
    this.#current = 0;
    this.#slots = undefined;
  }

  get #second(): number {
    return secondOf(this.#fromMs);
  }

  #usedIn(second: number): number {
    return this.#slots?.[second % SLOTS] ?? 0;
  }

  #secondsOfPast(): number {
    for (let seconds = SLOTS - 1; seconds > 0; seconds -= 1) {
      if (this.#usedIn(this.#second + seconds) !== 0) return seconds;
    }
    return 0;
  }

  #correctPast(second: number, added: number, actual: number): void {
    const isOver = second <= this.#second - SLOTS;
    const more = isOver ? Math.max(0, actual - added) : actual - added;
    this.#total += more;
    if (isOver) this.#current += more;
    else this.#put(second, this.#usedIn(second) + more);
  }

  #put(second: number, amount: number): void {
    if (this.#slots === undefined) {
      if (amount === 0) return;
      this.#slots = new Float64Array(SLOTS);
    }
    this.#slots[second % SLOTS] = amount;
  }

  /** Begins another second, and forgets what is a minute old. */
  #advance(nowMs: number): void {
    const now = secondOf(nowMs);
    this.#put(this.#second, this.#current);
    this.#current = 0;
    if (this.#slots !== undefined) {
      // However long nothing was used, no more than all slots need be emptied.
      for (let second = Math.max(this.#second, now - SLOTS) + 1; second <= now; second += 1) {
        this.#total -= this.#usedIn(second);
        this.#put(second, 0);
      }
    }
    this.#fromMs = now * 1000;
    this.#untilMs = this.#fromMs + 1000;
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
