import type { Target } from "../target.ts";

/**
 * `closed`: calls go there as planned. `open`: it has failed too often, and is planned last. `half_open`: it has been left
 * alone for long enough, and the next call may probe it; while that one is under way, it is `open` for all others.
 */
export type BreakerState = "closed" | "open" | "half_open";

/** What is known of a target at this moment. One object for each, so that reading it allocates nothing: read it, do not keep it. */
export interface TargetHealth {
  readonly state: BreakerState;
  /** Until when its provider asks not to be called, by the monotonic clock; 0 or a moment in the past where it does not. */
  readonly quietUntilMs: number;
  /** To the first content of its answers, time-decayed; undefined where nothing was measured lately. */
  readonly firstContentMs: number | undefined;
  /** Output tokens a second, time-decayed; undefined where nothing was measured lately. */
  readonly tokensPerSecond: number | undefined;
}

/** What planning reads. */
export interface HealthView {
  /** As of this moment, or of now: asking the clock costs more than the rest, and a plan asks for a dozen targets. */
  of(target: Target, nowMs?: number): TargetHealth;
}
