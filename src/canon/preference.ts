/** How the targets of a model are ordered. */
export const ROUTING_TYPES = ["priority", "round_robin", "least_latency"] as const;

export type RoutingType = (typeof ROUTING_TYPES)[number];

/** What `priority` sorts by if the order of providers is not set. */
export const FACTORS = ["cost", "speed", "quality"] as const;

export type Factor = (typeof FACTORS)[number];

/**
 * What to try after the requested providers: all others that offer the model, none, one provider, or another model. A name with a slash is
 * a model, any other a provider. The check of names also knows aliases.
 */
export type Fallback = "all" | "none" | { readonly provider: string } | { readonly model: string };

/**
 * Parses the form that callers and operators write: true or false (also as strings), a provider's name, or a model id, which contains a
 * slash.
 */
export function readFallback(written: string | boolean): Fallback {
  const word = String(written);
  if (/^true$/i.test(word)) return "all";
  if (/^false$/i.test(word)) return "none";
  return word.includes("/") ? { model: word } : { provider: word };
}

/** The reverse of `readFallback`. */
export function writeFallback(fallback: Fallback): string {
  if (fallback === "all") return "true";
  if (fallback === "none") return "false";
  return "model" in fallback ? fallback.model : fallback.provider;
}

/** What a call, a key or the operator sets for the plan (choices 6). Absent members are left to the next of them. */
export interface Preference {
  readonly type?: RoutingType | undefined;
  readonly primaryFactor?: Factor | undefined;
  /** Only these providers, in this order. */
  readonly providers?: readonly string[] | undefined;
  readonly fallback?: Fallback | undefined;
  /** Whether a conversation stays at the provider that has its prompt cache. Defaults to true. */
  readonly sticky?: boolean | undefined;
}

/** The empty preference, shared so that it can be recognised by identity. */
export const NO_PREFERENCE: Preference = Object.freeze({});

/** How `trivium/auto` chooses: `model_routing_config` (contract 2.12). */
export interface AutoChoice {
  /** If absent, every text model that the key may call. */
  readonly availableModels?: readonly string[] | undefined;
  /** `balanced`, `performance`, `price`, or the name of one of the models. */
  readonly preference?: string | undefined;
  readonly taskType?: TaskType | undefined;
  readonly complexity?: Complexity | undefined;
}

export const TASK_TYPES = ["chat", "completion", "embedding"] as const;

export type TaskType = (typeof TASK_TYPES)[number];

export const COMPLEXITIES = ["low", "medium", "high"] as const;

export type Complexity = (typeof COMPLEXITIES)[number];

/** Merges two preferences member by member. `over` takes precedence. */
export function mergePreferences(over: Preference, under: Preference): Preference {
  if (over === NO_PREFERENCE) return under;
  if (under === NO_PREFERENCE) return over;
  return {
    type: over.type ?? under.type,
    primaryFactor: over.primaryFactor ?? under.primaryFactor,
    providers: over.providers ?? under.providers,
    fallback: over.fallback ?? under.fallback,
    sticky: over.sticky ?? under.sticky,
  };
}
