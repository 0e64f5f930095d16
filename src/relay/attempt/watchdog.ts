import type { Cancel, Clock } from "../../base/clock.ts";

const TICK_MS = 100;

/** Something that waits, and decides at every tick whether it has waited for too long. */
export interface Watched {
  check(nowMs: number): void;
  /** Its index in the watchdog's list, which the watchdog alone changes: NOT_WATCHED before and after. */
  watchIndex: number;
}

export const NOT_WATCHED = -1;

/**
 * One timer for all the waits of all calls. Deadlines here are seconds long, so a coarse tick is exact enough, and a call
 * costs two changes of a list instead of timers of its own. What waits is in the list itself: a call waits for several things,
 * and a closure for each would cost more than the rest of the wait.
 *
 * The list is an array: a Set that is changed this often leaves a trail of outgrown tables, and the collector keeps what
 * they held, which is whole calls, until its next full round.
 */
export class Watchdog {
  readonly #watched: Watched[] = [];
  readonly #clock: Clock;
  #stopTicking: Cancel | undefined;
  #endOfTurn: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It is asked on every tick until `unwatch`. */
  watch(watched: Watched): void {
    if (watched.watchIndex !== NOT_WATCHED) return;
    watched.watchIndex = this.#watched.length;
    this.#watched.push(watched);
    this.#stopTicking ??= this.#clock.every(TICK_MS, () => this.#tick());
  }

  /** The last one of the list takes its place. May be called more than once. */
  unwatch(watched: Watched): void {
    const index = watched.watchIndex;
    if (index === NOT_WATCHED) return;
    const last = this.#watched.pop();
    if (last && last !== watched) {
      this.#watched[index] = last;
      last.watchIndex = index;
    }
    watched.watchIndex = NOT_WATCHED;
  }

  /**
   * Runs it when the runtime has handled everything that arrived in this turn of the event loop. All of a turn have one place in
   * the next. `run` must not throw.
   */
  atEndOfTurn(run: () => void): void {
    if (this.#endOfTurn.push(run) > 1) return;
    this.#clock.soon(() => {
      const due = this.#endOfTurn;
      this.#endOfTurn = [];
      for (const one of due) one();
    });
  }

  #tick(): void {
    if (this.#watched.length === 0) {
      this.#stopTicking?.();
      this.#stopTicking = undefined;
      return;
    }
    const now = this.#clock.nowMs();
    // From the end: a check may end itself or others, and what then moves is what has had its turn.
    for (let index = this.#watched.length - 1; index >= 0; index--) this.#watched[index]?.check(now);
  }
}
