import type { Cancel, Clock } from "../base/clock.ts";

const TICK_MS = 100;

interface Watch {
  check: (nowMs: number) => void;
  /** Where it stands in the list; -1 when it has ended. */
  place: number;
}

/**
 * One timer for all the waits of all calls. Deadlines here are seconds long, so a coarse tick is exact enough, and a call
 * costs two changes of a list instead of timers of its own.
 *
 * The list is an array: a Set that is changed this often leaves a trail of outgrown tables, and the collector keeps what
 * they held, which is whole calls, until its next full round.
 */
export class Watchdog {
  readonly #watches: Watch[] = [];
  readonly #clock: Clock;
  #stopTicking: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `check` runs on every tick until the returned function is called. */
  watch(check: (nowMs: number) => void): () => void {
    const watch: Watch = { check, place: this.#watches.length };
    this.#watches.push(watch);
    this.#stopTicking ??= this.#clock.every(TICK_MS, () => this.#tick());
    return () => this.#end(watch);
  }

  /** The last one takes its place. */
  #end(watch: Watch): void {
    if (watch.place < 0) return;
    const last = this.#watches.pop();
    if (last && last !== watch) {
      this.#watches[watch.place] = last;
      last.place = watch.place;
    }
    watch.place = -1;
  }

  #tick(): void {
    if (this.#watches.length === 0) {
      this.#stopTicking?.();
      this.#stopTicking = undefined;
      return;
    }
    const now = this.#clock.nowMs();
    // From the end: a check may end itself or others, and what then moves is what has had its turn.
    for (let place = this.#watches.length - 1; place >= 0; place--) this.#watches[place]?.check(now);
  }
}
