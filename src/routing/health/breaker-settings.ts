/** When a breaker opens, and for how long (choices 8). */
export interface BreakerSettings {
  /** So many failures within the window open it. */
  readonly failures: number;
  readonly windowMs: number;
  /** How long it is left alone the first time; longer each time that it fails again. */
  readonly openMs: number;
}

export const DEFAULT_BREAKER: BreakerSettings = { failures: 5, windowMs: 30_000, openMs: 15_000 };

/** However often it fails, it is not left alone for longer than this, unless `openMs` alone is longer. */
export const MAX_OPEN_MS = 300_000;
