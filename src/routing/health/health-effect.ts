import type { ErrorKind, GatewayError } from "../../canon/error.ts";

/**
 * The effect of a failed attempt on its target: `none` if the request or the gateway is at fault, `limited` if the provider asks
 * for a pause, `failed` if it counts against this model, `rejected` if it takes the credential out of use with all its models.
 */
export type HealthEffect = "none" | "limited" | "failed" | "rejected";

// biome-ignore format: a table is read in columns
const EFFECTS: Readonly<Record<ErrorKind, HealthEffect>> = {
  invalid_request:        "none",
  unsupported_parameter:  "none",
  unauthenticated:        "none",
  budget_exhausted:       "none",
  forbidden:              "none",
  not_found:              "failed",
  method_not_allowed:     "none",
  too_large:              "none",
  unsupported_media_type: "none",
  rate_limited:           "limited",
  content_blocked:        "none",
  upstream_credentials:   "rejected",
  upstream_unfunded:      "rejected",
  upstream_failed:        "failed",
  upstream_timeout:       "failed",
  overloaded:             "failed",
  stopped:                "none",
  internal:               "none",
};

/** A 404 counts only if a host returned it. What the gateway itself does not find says nothing about a target. */
export function effectOf({ kind, failure }: Pick<GatewayError, "kind" | "failure">): HealthEffect {
  if (kind === "not_found" && failure?.status === undefined) return "none";
  return EFFECTS[kind];
}
