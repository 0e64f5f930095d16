const TICK_MS = 100;

/**
 * One timer for all the waits of all calls. Deadlines here are seconds long, so a coarse tick is exact enough, and a call
 * costs two set operations instead of timers of its own.
 */
export class Watchdog {
  readonly #watched = new Set<(nowMs: number) => void>();
  readonly #nowMs: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** `check` runs on every tick until the returned function is called. */
  watch(check: (nowMs: number) => void): () => void {
    this.#watched.add(check);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    return () => {
      this.#watched.delete(check);
    };
  }

  #tick(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = this.#nowMs();
    for (const check of this.#watched) check(now);
  }
}
