const SLOTS = 60;

/**
 * Use of the last minute, in slots of one second. Memory does not depend on the limit, and an idle window takes almost
 * none.
 */
export class RateWindow {
  #total = 0;
  /** Use in the current second: where calls add, and mostly where they correct. */
  #current = 0;
  /** When the current second began. */
  #fromMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Use in the past seconds; absent if nothing was used. */
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
   * Replaces the amount that was added at `addedMs` with the actual one. If that second is more than a minute ago,
   * nothing is left to take back, and only the excess counts, from now on.
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

  /** Frees the slots once nothing in them counts. */
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

  /** Starts a new second, and forgets what is a minute old. */
  #advance(nowMs: number): void {
    const now = secondOf(nowMs);
    this.#put(this.#second, this.#current);
    this.#current = 0;
    if (this.#slots !== undefined) {
      // However long the window was idle, each slot is emptied at most once.
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
