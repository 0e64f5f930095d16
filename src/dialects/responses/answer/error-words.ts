import type { ErrorKind } from "../../../canon/error.ts";

/**
 * `error.code` of a failed response. Clients use it to decide whether to retry: they treat unknown codes as server errors, and retry them.
 */
// biome-ignore format: a table is read in columns
export const FAILURE_CODES: Readonly<Record<ErrorKind, string>> = {
  invalid_request:        "invalid_prompt",
  unsupported_parameter:  "invalid_prompt",
  unauthenticated:        "invalid_api_key",
  budget_exhausted:       "insufficient_quota",
  forbidden:              "invalid_prompt",
  not_found:              "model_not_found",
  method_not_allowed:     "invalid_prompt",
  too_large:              "invalid_prompt",
  unsupported_media_type: "invalid_prompt",
  rate_limited:           "rate_limit_exceeded",
  content_blocked:        "invalid_prompt",
  upstream_credentials:   "server_error",
  upstream_unfunded:      "server_error",
  upstream_failed:        "server_error",
  upstream_timeout:       "server_error",
  overloaded:             "server_error",
  stopped:                "invalid_prompt",
  internal:               "server_error",
};
