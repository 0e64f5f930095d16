import type { ErrorKind } from "../../../canon/error.ts";

/** `type` of each kind of error outside a stream, and the HTTP status if the protocol has a specific one. */
// biome-ignore format: a table is read in columns
export const ERROR_WORDS: Readonly<Record<ErrorKind, { type: string; status?: number }>> = {
  invalid_request:        { type: "invalid_request_error" },
  unsupported_parameter:  { type: "invalid_request_error" },
  unauthenticated:        { type: "authentication_error" },
  budget_exhausted:       { type: "billing_error" },
  forbidden:              { type: "permission_error" },
  not_found:              { type: "not_found_error" },
  method_not_allowed:     { type: "invalid_request_error" },
  too_large:              { type: "request_too_large" },
  unsupported_media_type: { type: "invalid_request_error" },
  rate_limited:           { type: "rate_limit_error" },
  content_blocked:        { type: "invalid_request_error" },
  upstream_credentials:   { type: "api_error" },
  upstream_unfunded:      { type: "api_error" },
  upstream_failed:        { type: "api_error" },
  upstream_timeout:       { type: "timeout_error" },
  overloaded:             { type: "overloaded_error", status: 529 },
  stopped:                { type: "api_error", status: 500 },
  internal:               { type: "api_error" },
};
