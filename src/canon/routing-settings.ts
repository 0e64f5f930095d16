import type { Requirements } from "./offer-traits.ts";
import { type AutoChoice, NO_PREFERENCE, type Preference } from "./preference.ts";

/** What a call, its key or the operator sets for how calls are served (choices 8). Absent members are left to the next of them. */
export interface RoutingSettings {
  readonly preference: Preference;
  /** Continue a broken stream at the next offer that can continue a partial response. */
  readonly survive?: boolean | undefined;
  /** Call a second offer if the first is slower than usual. */
  readonly hedge?: boolean | undefined;
  /** For the whole call, including all attempts. */
  readonly deadlineMs?: number | undefined;
  /** For all offers together, including retries. */
  readonly maxAttempts?: number | undefined;
  /** Traits that every offer must have. Those of the call, its key and the gateway add up. */
  readonly require?: Requirements | undefined;
}

/** What a call sets in its body and headers. */
export interface AskedRouting extends RoutingSettings {
  /** How `trivium/auto` chooses. */
  readonly auto?: AutoChoice | undefined;
}

/** When to suspend an offer for a while. */
export interface BreakerSettings {
  /** This many failures within the window open the breaker. */
  readonly failures: number;
  readonly windowMs: number;
  /** How long the offer is tried only after all others. Then one call probes it. */
  readonly openMs: number;
}

/** Limits of concurrent and queued calls. */
export interface OverloadSettings {
  /** For all providers together; undefined if there is no limit. */
  readonly maxConcurrent: number | undefined;
  /** Calls that may wait for a slot. */
  readonly maxQueue: number;
  /** The maximum time in the queue. */
  readonly queueMs: number;
}

/** The `routing` section of the configuration, with its defaults. */
export interface GatewayRouting extends OverloadSettings {
  readonly calls: RoutingSettings;
  readonly breaker: BreakerSettings;
}

export const DEFAULT_GATEWAY_ROUTING = {
  calls: {
    preference: NO_PREFERENCE,
    survive: false,
    hedge: false,
    deadlineMs: undefined,
    maxAttempts: Number.POSITIVE_INFINITY,
  },
  breaker: { failures: 5, windowMs: 30_000, openMs: 15_000 },
  maxConcurrent: undefined,
  maxQueue: 256,
  queueMs: 1_000,
} as const satisfies GatewayRouting;
