import type { CallTiming } from "../../canon/receipt.ts";

/** The phases of a call. It is in one phase at a time, so they add up to its whole time. */
export type Phase = "gateway" | "client" | "queue" | "backoff" | "provider" | "stream";

/** Measures the phases of one call, with two clock readings per phase. */
export class CallTimer {
  phase: Phase = "gateway";
  /** When a stream began; undefined before that, and for responses that are read whole. */
  firstContentAtMs: number | undefined = undefined;
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #sinceMs: number;
  readonly #spent: Record<Phase, number> = { gateway: 0, client: 0, queue: 0, backoff: 0, provider: 0, stream: 0 };

  constructor(nowMs: () => number, startedAtMs: number) {
    this.#nowMs = nowMs;
    this.#startedAtMs = startedAtMs;
    this.#sinceMs = startedAtMs;
  }

  /** Ends the current phase and begins this one. */
  to(phase: Phase): void {
    if (phase === this.phase) return;
    this.#count();
    this.phase = phase;
    if (phase === "stream") this.firstContentAtMs ??= this.#sinceMs;
  }

  /** The phases in whole milliseconds. The running sum is rounded, so that they add up to the rounded total. */
  read(): { totalMs: number; timing: CallTiming } {
    this.#count();
    const spent = this.#spent;
    let exactMs = 0;
    let roundedMs = 0;
    const next = (ms: number): number => {
      exactMs += ms;
      const before = roundedMs;
      roundedMs = Math.round(exactMs);
      return roundedMs - before;
    };
    const totalMs = Math.round(this.#sinceMs - this.#startedAtMs);
    const timing = {
      providerFirstContentMs: next(spent.provider),
      providerStreamMs: next(spent.stream),
      clientMs: next(spent.client),
      backoffMs: next(spent.backoff),
      queueMs: next(spent.queue),
      gatewayMs: Math.max(0, totalMs - roundedMs),
    };
    return { totalMs, timing };
  }

  #count(): void {
    const now = this.#nowMs();
    this.#spent[this.phase] += now - this.#sinceMs;
    this.#sinceMs = now;
  }
}
