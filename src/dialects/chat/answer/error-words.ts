import type { ErrorKind } from "../../../canon/error.ts";

/** `type` and `code` of each kind of error. An error with a more specific code replaces the latter. */
// biome-ignore format: a table is read in columns
export const ERROR_WORDS: Readonly<Record<ErrorKind, { type: string; code: string | null }>> = {
  invalid_request:        { type: "invalid_request_error", code: null },
  unsupported_parameter:  { type: "invalid_request_error", code: "unsupported_parameter" },
  unauthenticated:        { type: "authentication_error", code: "invalid_api_key" },
  budget_exhausted:       { type: "insufficient_quota", code: "insufficient_quota" },
  forbidden:              { type: "permission_error", code: null },
  not_found:              { type: "not_found_error", code: "model_not_found" },
  method_not_allowed:     { type: "invalid_request_error", code: "method_not_allowed" },
  too_large:              { type: "invalid_request_error", code: "request_too_large" },
  unsupported_media_type: { type: "invalid_request_error", code: "unsupported_media_type" },
  rate_limited:           { type: "rate_limit_error", code: "rate_limit_exceeded" },
  content_blocked:        { type: "invalid_request_error", code: "content_filter" },
  upstream_credentials:   { type: "api_error", code: "upstream_credentials" },
  upstream_unfunded:      { type: "api_error", code: "upstream_unfunded" },
  upstream_failed:        { type: "api_error", code: "upstream_failed" },
  upstream_timeout:       { type: "timeout_error", code: "upstream_timeout" },
  overloaded:             { type: "api_error", code: "overloaded" },
  stopped:                { type: "api_error", code: "stopped" },
  internal:               { type: "server_error", code: null },
};
