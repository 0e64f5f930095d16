import { addRequirements, type Requirements } from "../canon/offer-traits.ts";
import { type AutoChoice, mergePreferences, type Preference } from "../canon/preference.ts";
import {
  type AskedRouting,
  type BreakerSettings,
  DEFAULT_GATEWAY_ROUTING,
  type GatewayRouting,
  type OverloadSettings,
  type RoutingSettings,
} from "../canon/routing-settings.ts";

/** The routing of one call: its own settings over those of its key and the gateway. */
export interface CallRouting {
  readonly preference: Preference;
  /** Only if the call configures `trivium/auto`. */
  readonly auto: AutoChoice | undefined;
  /** A broken stream continues at the next offer that can continue a partial response. */
  readonly survive: boolean;
  /** A second offer is tried if the first is slow to start, and the first content wins. */
  readonly hedge: boolean;
  /** From the arrival of the request to the end of its response. */
  readonly deadlineMs: number | undefined;
  /** The maximum number of upstream requests for one call. */
  readonly maxAttempts: number;
  /** Traits that every offer must have. */
  readonly require: Requirements | undefined;
}

/** If neither the call, its key nor the gateway sets anything. */
export const DEFAULT_ROUTING: CallRouting = Object.freeze({
  ...DEFAULT_GATEWAY_ROUTING.calls,
  auto: undefined,
  require: undefined,
});

/** The configured limits of one provider. */
export interface ProviderLimits {
  readonly breaker: BreakerSettings;
  /** Concurrent requests; undefined if it has no limit. */
  readonly maxConcurrent: number | undefined;
}

/** Defaults for calls and providers, created with the configuration. */
export class RoutingDefaults {
  /** For calls and keys without settings: one shared object. */
  readonly calls: CallRouting;
  readonly overload: OverloadSettings;
  /** Whether concurrent requests are limited anywhere. */
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

  /** Merges the settings of the call, its key and the gateway. If the call has none, nothing is allocated. */
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
    require: addRequirements(over.require, under.require),
  };
}
