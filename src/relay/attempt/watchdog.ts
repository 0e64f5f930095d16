import type { Cancel, Clock } from "../../base/clock.ts";
import { EndOfTurn } from "../../base/end-of-turn.ts";

const TICK_MS = 100;

/** Something that waits, and decides at every tick whether it has waited for too long. */
export interface Watched {
  check(nowMs: number): void;
  /** Its index in the watchdog's list, set only by the watchdog. NOT_WATCHED before and after. */
  watchIndex: number;
}

export const NOT_WATCHED = -1;

/**
 * One timer for all waits of all calls. Deadlines are seconds long, so a coarse tick is exact enough, and a call costs two list
 * changes instead of several timers. Waiting objects are listed themselves, because a closure for each wait would cost more than
 * the rest of it. The list is an array, because a Set that changes this often leaves outgrown tables behind, which keep whole calls
 * in memory until the next full garbage collection.
 */
export class Watchdog {
  readonly #watched: Watched[] = [];
  readonly #clock: Clock;
  #stopTicking: Cancel | undefined;
  readonly #endOfTurn: EndOfTurn;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endOfTurn = new EndOfTurn(clock);
  }

  /** Checks it on every tick until `unwatch`. */
  watch(watched: Watched): void {
    if (watched.watchIndex !== NOT_WATCHED) return;
    watched.watchIndex = this.#watched.length;
    this.#watched.push(watched);
    this.#stopTicking ??= this.#clock.every(TICK_MS, () => this.#tick());
  }

  /** The last entry takes its place. Safe to call more than once. */
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

  /** Runs the callback after the runtime has handled everything that arrived in this turn of the event loop. It must not throw. */
  atEndOfTurn(run: () => void): void {
    this.#endOfTurn.add(run);
  }

  #tick(): void {
    if (this.#watched.length === 0) {
      this.#stopTicking?.();
      this.#stopTicking = undefined;
      return;
    }
    const now = this.#clock.nowMs();
    // From the end, because a check may remove itself or others, and only entries that were already checked move.
    for (let index = this.#watched.length - 1; index >= 0; index--) this.#watched[index]?.check(now);
  }
}
