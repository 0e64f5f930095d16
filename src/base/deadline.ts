import type { Cancel, Clock } from "./clock.ts";

interface Deadline {
  /** Aborts with a `TimeoutError` when the time is up. */
  readonly signal: AbortSignal;
  /** There is nothing left to stop. */
  readonly cancel: Cancel;
}

/** `AbortSignal.timeout` on an injected clock. */
export function deadline(clock: Clock, ms: number): Deadline {
  const controller = new AbortController();
  const late = () => controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
  return { signal: controller.signal, cancel: clock.after(ms, late, { background: true }) };
}
