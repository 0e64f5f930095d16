/** Ends a timer; calling it again, or after the timer has run, does nothing. */
export type Cancel = () => void;

export interface TimerOptions {
  /** It does not keep the process alive. */
  background?: boolean;
}

/**
 * The source of time. The program injects the system clock; tests inject one whose time advances only when nothing else is
 * left to do. Members do not depend on `this`.
 */
export interface Clock {
  /** A clock that never steps, for timers and measurements; it starts at the wall clock's time (decision 0025). */
  readonly nowMs: () => number;
  /** The machine's clock, for times that are stored or reported; it may be set (H30). */
  readonly wallMs: () => number;
  /** Runs it in the next turn of the event loop, after everything that arrived in this one. */
  readonly soon: (run: () => void) => void;
  readonly after: (ms: number, run: () => void, options?: TimerOptions) => Cancel;
  readonly every: (ms: number, run: () => void, options?: TimerOptions) => Cancel;
  readonly sleep: (ms: number) => Promise<void>;
}
