import { type AutoChoice, mergePreferences, type Preference } from "../canon/preference.ts";
import {
  type AskedRouting,
  type BreakerSettings,
  DEFAULT_GATEWAY_ROUTING,
  type GatewayRouting,
  type OverloadSettings,
  type RoutingSettings,
} from "../canon/routing-settings.ts";

/** How one call is to be served: what it asks for, over what its key and the gateway say. */
export interface CallRouting {
  readonly preference: Preference;
  /** Only where the call says how `trivium/auto` is to choose. */
  readonly auto: AutoChoice | undefined;
  /** A stream that breaks off goes on at the next offer that can continue a partial answer. */
  readonly survive: boolean;
  /** A second offer is asked where the first is slow to begin, and the first content wins. */
  readonly hedge: boolean;
  /** From the arrival of the call to the end of its answer. */
  readonly deadlineMs: number | undefined;
  /** How many requests may leave for one call. */
  readonly maxAttempts: number;
}

/** Where neither the call, its key nor the gateway says anything. */
export const DEFAULT_ROUTING: CallRouting = Object.freeze({ ...DEFAULT_GATEWAY_ROUTING.calls, auto: undefined });

/** What the configuration says of the health and the load of one provider. */
export interface ProviderLimits {
  readonly breaker: BreakerSettings;
  /** Calls there at once; undefined where there is no limit of its own. */
  readonly maxConcurrent: number | undefined;
}

/** What holds for calls and providers where they do not say otherwise. Made once with the configuration. */
export class RoutingDefaults {
  /** For calls that ask for nothing, of keys that set nothing: one object for all of them. */
  readonly calls: CallRouting;
  readonly overload: OverloadSettings;
  /** Whether the number of requests at one time is limited anywhere. */
  readonly limitsRequests: boolean;
  readonly #everyProvider: ProviderLimits;
  readonly #providers: ReadonlyMap<string, ProviderLimits>;
  readonly #byKey = new WeakMap<RoutingSettings, CallRouting>();

  constructor(
    gateway: GatewayRouting = DEFAULT_GATEWAY_ROUTING,
    providers: ReadonlyMap<string, ProviderLimits> = new Map(),
  ) {
    const { calls, breaker, maxConcurrent, maxQueue, queueMs } = gateway;
    this.calls = Object.freeze(layOver(calls, DEFAULT_ROUTING));
    this.overload = { maxConcurrent, maxQueue, queueMs };
    this.#everyProvider = { breaker, maxConcurrent: undefined };
    this.#providers = providers;
    this.limitsRequests =
      maxConcurrent !== undefined || [...providers.values()].some((provider) => provider.maxConcurrent !== undefined);
  }

  ofProvider(name: string): ProviderLimits {
    return this.#providers.get(name) ?? this.#everyProvider;
  }

  /** The call over its key over the gateway, member by member. Where the call asks for nothing, no object is made. */
  ofCall(key: RoutingSettings | undefined, asked: AskedRouting | undefined): CallRouting {
    const under = key === undefined ? this.calls : this.#ofKey(key);
    return asked === undefined ? under : layOver(asked, under);
  }

  #ofKey(key: RoutingSettings): CallRouting {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const merged = Object.freeze(layOver(key, this.calls));
    this.#byKey.set(key, merged);
    return merged;
  }
}

function layOver(over: AskedRouting, under: CallRouting): CallRouting {
  return {
    preference: mergePreferences(over.preference, under.preference),
    auto: over.auto,
    survive: over.survive ?? under.survive,
    hedge: over.hedge ?? under.hedge,
    deadlineMs: over.deadlineMs ?? under.deadlineMs,
    maxAttempts: over.maxAttempts ?? under.maxAttempts,
  };
}
