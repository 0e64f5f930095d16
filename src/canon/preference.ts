/** How the targets of a model are ordered. */
export const ROUTING_TYPES = ["priority", "round_robin", "least_latency"] as const;

export type RoutingType = (typeof ROUTING_TYPES)[number];

/** What `priority` orders by, where no order of providers is asked for. */
export const FACTORS = ["cost", "speed", "quality"] as const;

export type Factor = (typeof FACTORS)[number];

/**
 * What is tried after the providers that were asked for: all others that offer the model, none, one named provider, or another
 * model. A name with a slash is read as a model's, any other as a provider's; the check of names knows aliases too.
 */
export type Fallback = "all" | "none" | { readonly provider: string } | { readonly model: string };

/** As callers and operators write it: true, false (as words too), the name of a provider, or the id of a model, which has a slash. */
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

/** What a call, a key or the operator wants of the plan (choices 6). An absent member leaves the choice to the next of them. */
export interface Preference {
  readonly type?: RoutingType | undefined;
  readonly primaryFactor?: Factor | undefined;
  /** Only these, in this order. */
  readonly providers?: readonly string[] | undefined;
  readonly fallback?: Fallback | undefined;
  /** Whether a conversation stays where its prompt cache is; it does unless told otherwise. */
  readonly sticky?: boolean | undefined;
}

/** Nothing is preferred. Shared, so that a call which prefers nothing is known by it. */
export const NO_PREFERENCE: Preference = Object.freeze({});

/** How `trivium/auto` is to choose: `model_routing_config` (contract 2.12). */
export interface AutoChoice {
  /** Absent: every text model that the key may call. */
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

/** What `over` says, and member by member what `under` says where it is silent. */
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
