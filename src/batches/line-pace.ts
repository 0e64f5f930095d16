import type { Clock } from "../base/clock.ts";
import { nextTurn } from "../base/next-turn.ts";

/** How often the event loop is looked at, and how often the limit may change. */
const LOOK_MS = 20;
const CHANGE_MS = 100;
/** A turn of the event loop that takes longer delays every call that waits for it, several times in each call. */
const LONG_TURN_MS = 3;
/** So many long turns between two changes are no accident: one may be the fault of another program. */
const LONG_TURNS = 2;
/** Work in the background lets calls proceed after this long. */
const SLICE_MS = 1;

interface LinePaceOptions {
  clock: Clock;
  /** How many lines may run at most. */
  max: number;
  /** Calls in flight, of clients or of lines. */
  runningCalls: () => number;
}

/**
 * Keeps the lines of batches below the calls of clients. The more lines run here, the later the event loop gets to a client's
 * call: while its turns are long, fewer lines run, down to one.
 */
export class LinePace {
  readonly #options: LinePaceOptions;
  #limit: number;
  #isFollowing = false;
  #sliceMs = 0;

  constructor(options: LinePaceOptions) {
    this.#options = options;
    this.#limit = options.max;
  }

  /** How many lines may run in this process now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Watches the event loop as long as `isNeeded`. */
  follow(isNeeded: () => boolean): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const { clock, max } = this.#options;
    let changeMs = clock.nowMs() + CHANGE_MS;
    let longTurns = 0;
    const cancel = clock.every(
      LOOK_MS,
      () => {
        const nowMs = clock.nowMs();
        clock.soon(() => {
          if (clock.nowMs() - nowMs > LONG_TURN_MS) longTurns++;
        });
        if (nowMs < changeMs) return;
        changeMs = nowMs + CHANGE_MS;
        this.#limit = longTurns >= LONG_TURNS ? Math.max(1, this.#limit / 2) : Math.min(max, this.#limit * 1.25);
        longTurns = 0;
        if (isNeeded()) return;
        cancel();
        this.#isFollowing = false;
        this.#limit = max;
      },
      { background: true },
    );
  }

  /** Called again and again by long work. Calls that run get as much time as the work has taken. */
  async rest(): Promise<void> {
    const { clock, runningCalls } = this.#options;
    if (clock.nowMs() - this.#sliceMs < SLICE_MS) return;
    await (runningCalls() > 0 ? clock.sleep(SLICE_MS) : nextTurn());
    this.#sliceMs = clock.nowMs();
  }
}
