import type { Cancel, Clock } from "../src/base/clock.ts";
import { type Timer, TimerHeap } from "./timer-heap.ts";

/** A turn of the event loop is over in microseconds; nothing in memory needs more of them to come to rest. */
const TURNS_UNTIL_IDLE = 8;

/** How long tests let time pass before they take what they wait for as never coming. */
const MAX_PASSED_MS = 24 * 3_600_000;

export interface VirtualClockOptions {
  startMs?: number;
  /** How many turns of the event loop everything gets before time passes. */
  turns?: number;
}

/**
 * Virtual time for tests: it stands still while there is work to do, and then jumps to the next timer. It only covers this
 * process: waiting for a socket, a disk or another process looks idle to it.
 */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #turns: number;
  /** How far the wall clock was set away from the one that never steps. */
  #stepMs = 0;
  #nowMs: number;
  readonly #timers = new TimerHeap();

  constructor({ startMs = Date.UTC(2026, 0, 1), turns = TURNS_UNTIL_IDLE }: VirtualClockOptions = {}) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#turns = turns;
  }

  readonly nowMs = (): number => this.#nowMs;
  readonly wallMs = (): number => this.#nowMs + this.#stepMs;

  /** No time passes until it has run. */
  readonly soon = (run: () => void): void => void setImmediate(run);
  readonly after = (ms: number, run: () => void): Cancel => this.#set(ms, run, undefined);
  readonly every = (ms: number, run: () => void): Cancel => this.#set(ms, run, ms);
  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** Since the clock was made. */
  get passedMs(): number {
    return this.#nowMs - this.#startMs;
  }

  /** Timers that are set and have not run. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Sets the wall clock, as an operator or a time server does. */
  stepWall(byMs: number): void {
    this.#stepMs += byMs;
  }

  /** Lets this much time pass, and everything happen that falls into it. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      await this.#idle();
      const next = this.#timers.first();
      if (next === undefined || next.dueMs > untilMs) break;
      this.#run(next);
    }
    this.#nowMs = untilMs;
    await this.#idle();
  }

  /** Advances time until the promise settles. Fails after a day, or if no timer is left. */
  async until<Result>(work: Promise<Result>): Promise<Result> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    work.then(settle, settle);
    const untilMs = this.#nowMs + MAX_PASSED_MS;
    for (;;) {
      await this.#idle();
      if (settled) return work;
      const next = this.#timers.first();
      if (next === undefined) throw new Error("no timer is left that could resolve this promise");
      if (next.dueMs > untilMs) throw new Error("this promise did not settle within a day");
      this.#run(next);
    }
  }

  #set(ms: number, run: () => void, everyMs: number | undefined): Cancel {
    const timer = this.#timers.add(this.#nowMs + Math.max(0, ms), everyMs, run);
    return () => this.#timers.cancel(timer);
  }

  #run(timer: Timer): void {
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    this.#timers.take(timer);
    timer.run();
  }

  async #idle(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
