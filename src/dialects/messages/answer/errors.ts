import { type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../../canon/error.ts";
import { tellsUnfunded } from "../../answer/unfunded.ts";
import type { ErrorAnswer, StreamErrorWrite } from "../../dialect.ts";
import type { UpstreamFailure } from "../../upstream-failure.ts";
import { failureToError } from "../../upstream-failure.ts";
import { ERROR_WORDS } from "./error-words.ts";

/** The status of each error type outside a stream. Inside a stream only the type is known. */
const STATUS_OF_TYPE: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

export function decodeError(failure: UpstreamFailure): GatewayError {
  const body = parseObject(failure.body);
  const error = objectAt(body, "error");
  return failureToError({
    status: failure.status,
    // Cloud hosts that serve this dialect report failures in their own format.
    message: stringAt(error ?? body, "message") ?? stringAt(body, "Message"),
    retryAfterSeconds: failure.retryAfterSeconds,
    code: codeOf(error),
    details: error?.["details"],
  });
}

/** A billing error says more by its details than by its type; no client of the protocol knows a code. */
function codeOf(error: JsonObject | undefined): string | undefined {
  const details = objectAt(error, "details");
  const named = stringAt(details, "error_code") ?? stringAt(error, "code");
  return [named, stringAt(error, "type")].find((code) => tellsUnfunded(code, undefined));
}

/** An `error` event, or an error body under HTTP 200. */
export function decodeErrorObject(body: unknown): GatewayError {
  const error = objectAt(body, "error");
  return failureToError({
    status: STATUS_OF_TYPE.get(stringAt(error, "type") ?? "") ?? 500,
    message: stringAt(error, "message"),
    code: codeOf(error),
  });
}

export function encodeError(error: GatewayError, requestId: string): ErrorAnswer {
  const { type, status } = ERROR_WORDS[error.kind];
  return {
    status: status ?? error.rule.status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      type: "error",
      error: {
        type,
        message: error.messageWithPath,
        ...(error.upstreamDetails == null ? {} : { details: error.upstreamDetails }),
      },
      request_id: requestId,
    }),
  };
}

/** Inside a stream the contract has only four types (contract 7). */
const STREAM_TYPE: Partial<Record<ErrorKind, string>> = {
  invalid_request: "invalid_request_error",
  unsupported_parameter: "invalid_request_error",
  content_blocked: "invalid_request_error",
  not_found: "invalid_request_error",
  method_not_allowed: "invalid_request_error",
  too_large: "invalid_request_error",
  unauthenticated: "authentication_error",
  rate_limited: "rate_limit_error",
};

export function encodeStreamError(error: GatewayError, requestId: string): StreamErrorWrite[] {
  const type = STREAM_TYPE[error.kind] ?? "api_error";
  const body = JSON.stringify({
    type: "error",
    error: { type, message: error.messageWithPath },
    request_id: requestId,
  });
  return [{ text: `event: error\ndata: ${body}\n\n`, pauseMs: 0 }];
}
