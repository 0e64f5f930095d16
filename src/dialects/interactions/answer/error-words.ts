import type { ErrorKind } from "../../../canon/error.ts";

/** `code` of each kind of error inside a stream. Errors before a stream have the vendor's usual form. */
// biome-ignore format: a table is read in columns
export const ERROR_CODES: Readonly<Record<ErrorKind, string>> = {
  invalid_request:        "invalid_request",
  unsupported_parameter:  "invalid_request",
  unauthenticated:        "unauthenticated",
  budget_exhausted:       "resource_exhausted",
  forbidden:              "permission_denied",
  not_found:              "not_found",
  method_not_allowed:     "invalid_request",
  too_large:              "invalid_request",
  unsupported_media_type: "invalid_request",
  rate_limited:           "resource_exhausted",
  content_blocked:        "content_blocked",
  upstream_credentials:   "unavailable",
  upstream_unfunded:      "unavailable",
  upstream_failed:        "unavailable",
  upstream_timeout:       "deadline_exceeded",
  overloaded:             "unavailable",
  stopped:                "cancelled",
  internal:               "internal",
};
