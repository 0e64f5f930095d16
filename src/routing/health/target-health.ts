import type { ErrorKind } from "../../canon/error.ts";
import type { Target } from "../target.ts";

/**
 * `closed`: calls are sent as planned. `open`: it failed too often and is planned last. `half_open`: the pause is over and the next
 * call may probe it; while that call is in flight, it is `open` for all others.
 */
export type BreakerState = "closed" | "open" | "half_open";

/** The last failure of a target that its host caused. */
export interface TargetFailure {
  kind: ErrorKind;
  /** The HTTP status of the host's response; undefined if it sent none. */
  status: number | undefined;
  /** The host's own message if it sent one, without the gateway's secrets and shortened. */
  text: string;
  /** By the monotonic clock. */
  atMs: number;
}

/** The health of a target at one moment. There is one object per target, so that reading allocates nothing: read it, do not keep it. */
export interface TargetHealth {
  readonly state: BreakerState;
  /** When the pause that its provider asked for ends, by the monotonic clock; 0 or a past time if there is none. */
  readonly quietUntilMs: number;
  /** To the first content of its answers, time-decayed; undefined if nothing was measured lately. */
  readonly firstContentMs: number | undefined;
  /** Output tokens per second, time-decayed; undefined if nothing was measured lately. */
  readonly tokensPerSecond: number | undefined;
}

/** What planning reads. */
export interface HealthView {
  /** At this time, or now. Reading the clock costs more than the rest, and a plan reads a dozen targets. */
  of(target: Target, nowMs?: number): TargetHealth;
}
