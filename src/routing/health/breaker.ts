import type { BreakerSettings } from "../../canon/routing-settings.ts";
import type { BreakerState } from "./target-health.ts";

/** The longest pause, unless `open_ms` itself is longer. */
export const MAX_OPEN_MS = 300_000;
/** A probe without an outcome for this long is given up, and another call may probe. */
const PROBE_MS = 60_000;
/** The jitter of the pause, so that targets that failed together are not retried together. */
const JITTER = 0.2;

/**
 * A circuit breaker. It opens when `failures` calls have failed within the window and they are at least half of all calls since the
 * first of them. A host that answers most calls stays in use. It allocates nothing after construction, because every call uses it.
 */
export class Breaker {
  #settings: BreakerSettings;
  /** From 0 up to 1. */
  readonly #random: () => number;
  /** A ring of the last failures: when each happened, and how many calls had been answered by then. */
  #failedAtMs: Float64Array;
  #answeredBefore: Float64Array;
  #next = 0;
  #answered = 0;
  /** 0 while it is closed. */
  #openUntilMs = 0;
  #openedAtMs = 0;
  /** When it opened first since it was last closed: a probe that fails opens it again. */
  #downSinceMs = 0;
  #closedAtMs = Number.NEGATIVE_INFINITY;
  /** How often it failed again since it was last healthy. */
  #doublings = 0;
  #probe: object | undefined;
  #probeUntilMs = 0;

  constructor(settings: BreakerSettings, random: () => number) {
    this.#settings = settings;
    this.#random = random;
    this.#failedAtMs = new Float64Array(settings.failures).fill(Number.NEGATIVE_INFINITY);
    this.#answeredBefore = new Float64Array(settings.failures);
  }

  /** Changes the settings; a pause in progress is not changed. */
  configure(settings: BreakerSettings): void {
    if (settings.failures !== this.#settings.failures) {
      this.#failedAtMs = new Float64Array(settings.failures).fill(Number.NEGATIVE_INFINITY);
      this.#answeredBefore = new Float64Array(settings.failures);
      this.#next = 0;
    }
    this.#settings = settings;
  }

  stateAt(nowMs: number): BreakerState {
    if (this.#openUntilMs === 0) return "closed";
    if (nowMs < this.#openUntilMs) return "open";
    return this.#probe !== undefined && nowMs < this.#probeUntilMs ? "open" : "half_open";
  }

  /** When the current state began, by the monotonic clock; undefined if it has been closed since the start. */
  sinceMs(nowMs: number): number | undefined {
    if (this.stateAt(nowMs) !== "closed") return this.#downSinceMs;
    return this.#closedAtMs === Number.NEGATIVE_INFINITY ? undefined : this.#closedAtMs;
  }

  /** When the pause ends; 0 while it is closed. */
  get openUntilMs(): number {
    return this.#openUntilMs;
  }

  /** A call begins. The first one after the pause is the probe, until its outcome is known. */
  begin(attempt: object, nowMs: number): void {
    if (this.stateAt(nowMs) !== "half_open") return;
    this.#probe = attempt;
    this.#probeUntilMs = nowMs + PROBE_MS;
  }

  /**
   * A call that began at this time was answered. Calls that began before it opened do not count. Returns whether this closed the
   * breaker.
   */
  answer(startedAtMs: number, nowMs: number): boolean {
    this.#answered++;
    if (this.#openUntilMs === 0 || startedAtMs < this.#openedAtMs) return false;
    this.#close(nowMs);
    return true;
  }

  /** A call failed through the host's fault. Returns whether this opened a closed breaker. */
  fail(attempt: object, nowMs: number): boolean {
    if (this.#openUntilMs !== 0) return this.#failOpen(attempt, nowMs);
    const { failures, windowMs } = this.#settings;
    const at = this.#next;
    this.#failedAtMs[at] = nowMs;
    this.#answeredBefore[at] = this.#answered;
    // The oldest failure that counts is the next to be overwritten.
    const oldest = (at + 1) % failures;
    this.#next = oldest;
    const answered = this.#answered - (this.#answeredBefore[oldest] ?? 0);
    const tookMs = nowMs - (this.#failedAtMs[oldest] ?? Number.NEGATIVE_INFINITY);
    return tookMs <= windowMs && answered <= failures && this.#openFirst(nowMs);
  }

  /** The same, and one failure is enough. */
  trip(attempt: object, nowMs: number): boolean {
    return this.#openUntilMs === 0 ? this.#openFirst(nowMs) : this.#failOpen(attempt, nowMs);
  }

  /** Another process opened its breaker, which counts here too. */
  openRemotely(ms: number, nowMs: number): void {
    if (this.#openUntilMs !== 0) return;
    this.#probe = undefined;
    this.#openedAtMs = nowMs;
    this.#downSinceMs = nowMs;
    this.#openUntilMs = nowMs + Math.min(ms, Math.max(this.#settings.openMs, MAX_OPEN_MS));
  }

  /** Another process was answered. */
  closeRemotely(nowMs: number): void {
    if (this.#openUntilMs !== 0) this.#close(nowMs);
  }

  /** The outcome of a call does not count. If it was the probe, the next call is. */
  forget(attempt: object): void {
    if (this.#probe === attempt) this.#probe = undefined;
  }

  /** As if nothing had failed. */
  reset(): void {
    this.#failedAtMs.fill(Number.NEGATIVE_INFINITY);
    this.#openUntilMs = 0;
    this.#closedAtMs = Number.NEGATIVE_INFINITY;
    this.#probe = undefined;
  }

  #close(nowMs: number): void {
    this.#openUntilMs = 0;
    this.#closedAtMs = nowMs;
    this.#probe = undefined;
  }

  /** Failures other than the probe do not extend the pause: those calls began before it opened, or for lack of alternatives. */
  #failOpen(attempt: object, nowMs: number): false {
    if (attempt === this.#probe) this.#open(nowMs, this.#doublings + 1);
    return false;
  }

  /** A failure soon after closing means that it has not recovered. */
  #openFirst(nowMs: number): true {
    this.#downSinceMs = nowMs;
    const isRelapse = nowMs - this.#closedAtMs <= this.#settings.windowMs;
    this.#open(nowMs, isRelapse ? this.#doublings + 1 : 0);
    return true;
  }

  #open(nowMs: number, doublings: number): void {
    const { openMs } = this.#settings;
    this.#doublings = doublings;
    this.#probe = undefined;
    this.#openedAtMs = nowMs;
    const pauseMs = Math.min(openMs * 2 ** doublings, Math.max(openMs, MAX_OPEN_MS));
    this.#openUntilMs = nowMs + pauseMs * (1 + JITTER * (2 * this.#random() - 1));
  }
}
