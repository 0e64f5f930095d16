import { isObject, numberAt, parseObject, stringAt } from "../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../canon/error.ts";
import { failureToError, type UpstreamFailure } from "../upstream-failure.ts";

/**
 * Errors as hosts of `chat` and `responses` report them: an object with message, type, code and the path of the invalid field.
 */

const KIND_OF_CODE: ReadonlyMap<string, ErrorKind> = new Map([
  ["insufficient_quota", "upstream_unfunded"],
  ["invalid_api_key", "upstream_credentials"],
  ["content_filter", "content_blocked"],
  ["content_policy_violation", "content_blocked"],
  ["rate_limit_exceeded", "rate_limited"],
  ["server_error", "upstream_failed"],
  ["context_length_exceeded", "invalid_request"],
  ["invalid_prompt", "invalid_request"],
]);

/**
 * Some hosts reject a key with a plain 400. It is the gateway's key, and the caller must not take it for its own (decision 0008).
 */
const KEY_REFUSED = /^(?:incorrect|invalid) api key\b/i;

export function decodeError(failure: UpstreamFailure): GatewayError {
  return decodeErrorObject(parseObject(failure.body), failure.status, failure.retryAfterSeconds);
}

/** The same body with HTTP 200 or inside a stream, where a numeric `code` is the status. */
export function decodeErrorObject(
  body: unknown,
  status: number,
  retryAfterSeconds?: number,
  badKeyIs400 = true,
): GatewayError {
  const nested = isObject(body) ? body["error"] : undefined;
  const error = isObject(nested) ? nested : body;
  const code = stringAt(error, "code") ?? stringAt(error, "type");
  const reported = numberAt(error, "code") ?? numberAt(error, "status_code") ?? 0;
  const detail = stringAt(error, "message") ?? stringAt(body, "message") ?? stringAt(body, "detail");
  const message = typeof nested === "string" ? nested : detail;
  return failureToError({
    status:
      status === 200 ? (reported >= 400 && reported < 600 ? reported : statusOfType(stringAt(error, "type"))) : status,
    message,
    kind:
      KIND_OF_CODE.get(code ?? "") ??
      (badKeyIs400 && KEY_REFUSED.test(message ?? "") ? "upstream_credentials" : undefined),
    retryAfterSeconds,
    code: stringAt(error, "code"),
    path: stringAt(error, "param"),
  });
}

function statusOfType(type: string | undefined): number {
  return type === "invalid_request_error" ? 400 : 500;
}
