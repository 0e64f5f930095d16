import type { ErrorKind, GatewayError } from "../../canon/error.ts";

/**
 * What a failed attempt says of its target: `none` where it lies in the request, or with the gateway; `limited` where the
 * provider wants to be left alone for a while; `failed` where it counts against this model; `rejected` where it takes the
 * credential out, with all its models.
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
  upstream_failed:        "failed",
  upstream_timeout:       "failed",
  overloaded:             "failed",
  internal:               "none",
};

/** A 404 counts only where a host has said it: what the gateway itself does not find says nothing of any target. */
export function effectOf({ kind, failure }: Pick<GatewayError, "kind" | "failure">): HealthEffect {
  if (kind === "not_found" && failure?.status === undefined) return "none";
  return EFFECTS[kind];
}
