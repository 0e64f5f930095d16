import type { ErrorKind } from "../../../canon/error.ts";

/** `status` of each kind of error. */
// biome-ignore format: a table is read in columns
export const ERROR_WORDS: Readonly<Record<ErrorKind, string>> = {
  invalid_request:        "INVALID_ARGUMENT",
  unsupported_parameter:  "INVALID_ARGUMENT",
  unauthenticated:        "UNAUTHENTICATED",
  budget_exhausted:       "RESOURCE_EXHAUSTED",
  forbidden:              "PERMISSION_DENIED",
  not_found:              "NOT_FOUND",
  method_not_allowed:     "INVALID_ARGUMENT",
  too_large:              "INVALID_ARGUMENT",
  unsupported_media_type: "INVALID_ARGUMENT",
  rate_limited:           "RESOURCE_EXHAUSTED",
  content_blocked:        "INVALID_ARGUMENT",
  upstream_credentials:   "UNAVAILABLE",
  upstream_unfunded:      "UNAVAILABLE",
  upstream_failed:        "UNAVAILABLE",
  upstream_timeout:       "DEADLINE_EXCEEDED",
  overloaded:             "UNAVAILABLE",
  stopped:                "UNAVAILABLE",
  internal:               "INTERNAL",
};
