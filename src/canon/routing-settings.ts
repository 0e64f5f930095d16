import { type AutoChoice, NO_PREFERENCE, type Preference } from "./preference.ts";

/** What a call, its key or the operator says of how calls are served (choices 8). An absent member leaves it to the next of them. */
export interface RoutingSettings {
  readonly preference: Preference;
  /** A stream that breaks off goes on at the next offer that can continue a partial answer. */
  readonly survive?: boolean | undefined;
  /** A second offer is asked where the first is slower than usual. */
  readonly hedge?: boolean | undefined;
  /** For the call as a whole, all attempts together. */
  readonly deadlineMs?: number | undefined;
  /** Of all offers together, second tries included. */
  readonly maxAttempts?: number | undefined;
}

/** What one call asks for, by its body and its headers. */
export interface AskedRouting extends RoutingSettings {
  /** How `trivium/auto` is to choose. */
  readonly auto?: AutoChoice | undefined;
}

/** When an offer is left alone for a while. */
export interface BreakerSettings {
  /** So many failures within the window open it. */
  readonly failures: number;
  readonly windowMs: number;
  /** For so long it is tried after all others; then one call finds out. */
  readonly openMs: number;
}

/** How many calls run and wait. */
export interface OverloadSettings {
  /** Calls at all providers together; undefined where there is no limit. */
  readonly maxConcurrent: number | undefined;
  /** Calls that may wait for another to end. */
  readonly maxQueue: number;
  /** How long one waits at most. */
  readonly queueMs: number;
}

/** The section `routing` of the configuration, with its defaults. */
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
