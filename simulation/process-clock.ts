import type { Cancel, Clock } from "../src/base/clock.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";

/** The clock of one process: once it is killed, none of its timers fire. */
export class ProcessClock implements Clock {
  readonly #clock: VirtualClock;
  readonly #cancels = new Set<Cancel>();
  #isAlive = true;
  #setMs = 0;
  readonly nowMs: () => number;
  readonly wallMs: () => number;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.nowMs = clock.nowMs;
    this.wallMs = () => clock.wallMs() + this.#setMs;
  }

  /** Sets the clock of its machine. */
  stepWall(byMs: number): void {
    this.#setMs += byMs;
  }

  readonly soon = (run: () => void): void =>
    this.#clock.soon(() => {
      if (this.#isAlive) run();
    });

  readonly after = (ms: number, run: () => void): Cancel => {
    if (!this.#isAlive) return () => {};
    const stop = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      run();
    });
    const cancel = () => {
      this.#cancels.delete(cancel);
      stop();
    };
    this.#cancels.add(cancel);
    return cancel;
  };

  readonly every = (ms: number, run: () => void): Cancel => {
    if (!this.#isAlive) return () => {};
    const stop = this.#clock.every(ms, run);
    const cancel = () => {
      this.#cancels.delete(cancel);
      stop();
    };
    this.#cancels.add(cancel);
    return cancel;
  };

  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** Active timers. */
  get timers(): number {
    return this.#cancels.size;
  }

  kill(): void {
    this.#isAlive = false;
    for (const cancel of [...this.#cancels]) cancel();
  }
}
