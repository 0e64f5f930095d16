import type { BreakerSettings } from "../../canon/routing-settings.ts";
import type { BreakerState } from "./target-health.ts";

/** However often it fails, it is not left alone for longer than this, unless `open_ms` alone is longer. */
export const MAX_OPEN_MS = 300_000;
/** A probe without an outcome for so long is given up, and another call may probe. */
const PROBE_MS = 60_000;
/** How far the pause may be from its plain length, so that what failed together is not tried again together. */
const JITTER = 0.2;

/**
 * Says whether something that fails is still worth calling. It opens when so many calls have failed within the window, and they
 * are at least half of all calls since the first of them: a host that answers most calls is not left alone for the others.
 *
 * Nothing is allocated after it was made, since every call passes by here.
 */
export class Breaker {
  #settings: BreakerSettings;
  /** From 0 up to 1. */
  readonly #random: () => number;
  /** When the last failures came, and how many calls had been answered by then: a ring. */
  #failedAtMs: Float64Array;
  #answeredBefore: Float64Array;
  #next = 0;
  #answered = 0;
  /** 0 while it is closed. */
  #openUntilMs = 0;
  #openedAtMs = 0;
  #closedAtMs = Number.NEGATIVE_INFINITY;
  /** How often it has failed again since it was last healthy. */
  #doublings = 0;
  #probe: object | undefined;
  #probeUntilMs = 0;

  constructor(settings: BreakerSettings, random: () => number) {
    this.#settings = settings;
    this.#random = random;
    this.#failedAtMs = new Float64Array(settings.failures).fill(Number.NEGATIVE_INFINITY);
    this.#answeredBefore = new Float64Array(settings.failures);
  }

  /** Other settings; a pause that has begun stays as it is. */
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

  /** Until when it is left alone; 0 while it is closed. */
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
   * A call that began then was answered. What began before it opened says nothing of how things are now. Returns whether it has
   * closed it.
   */
  answer(startedAtMs: number, nowMs: number): boolean {
    this.#answered++;
    if (this.#openUntilMs === 0 || startedAtMs < this.#openedAtMs) return false;
    this.#close(nowMs);
    return true;
  }

  /** A call has failed, and it was the host's fault. Returns whether it was closed until now. */
  fail(attempt: object, nowMs: number): boolean {
    if (this.#openUntilMs !== 0) return this.#failOpen(attempt, nowMs);
    const { failures, windowMs } = this.#settings;
    const at = this.#next;
    this.#failedAtMs[at] = nowMs;
    this.#answeredBefore[at] = this.#answered;
    // The oldest of the failures that count is the next to be overwritten.
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

  /** Another process has opened its own: what it knows counts here, too. */
  hearOpen(ms: number, nowMs: number): void {
    if (this.#openUntilMs !== 0) return;
    this.#probe = undefined;
    this.#openedAtMs = nowMs;
    this.#openUntilMs = nowMs + Math.min(ms, Math.max(this.#settings.openMs, MAX_OPEN_MS));
  }

  /** Another process was answered. */
  hearClosed(nowMs: number): void {
    if (this.#openUntilMs !== 0) this.#close(nowMs);
  }

  /** The outcome of a call says nothing of the host: where it was the probe, the next call is. */
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

  /** What fails beside the probe was called before it opened, or for want of anything better: the pause stays as it is. */
  #failOpen(attempt: object, nowMs: number): false {
    if (attempt === this.#probe) this.#open(nowMs, this.#doublings + 1);
    return false;
  }

  /** What fails again soon after it was closed has not recovered. */
  #openFirst(nowMs: number): true {
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
