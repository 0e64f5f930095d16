import { arrayAt, isObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../../canon/error.ts";
import type { ErrorAnswer, StreamErrorWrite, StreamState } from "../../dialect.ts";
import type { UpstreamFailure } from "../../upstream-failure.ts";
import { failureToError } from "../../upstream-failure.ts";
import type { GenaiOptions } from "../options.ts";
import { ERROR_WORDS } from "./error-words.ts";

export function decodeError(failure: UpstreamFailure): GatewayError {
  return decodeErrorObject(parseObject(failure.body), failure.status, failure.retryAfterSeconds);
}

/** Also decodes an error inside a stream, which has its status in `code`. */
export function decodeErrorObject(body: unknown, status?: number, retryAfterSeconds?: number): GatewayError {
  const error = objectAt(body, "error");
  const message = stringAt(error, "message");
  return failureToError({
    status: status ?? numberAt(error, "code") ?? 500,
    message,
    kind: kindOf(error, message),
    path: fieldAt(error) ?? (namesLostCache(message) ? "cachedContent" : undefined),
    retryAfterSeconds: retryDelay(error) ?? retryAfterSeconds,
  });
}

/** A cache that has expired or belongs to another account. One host answers 403, as for a credential that it rejects. */
export const namesLostCache = (message: string | undefined): boolean =>
  message !== undefined && /cached\s?content.*not found|not found.*cached\s?content/i.test(message);

/** A wrong provider key gives a 400. Only a detail's reason or the message distinguishes it from a bad request. */
function kindOf(error: unknown, message: string | undefined): ErrorKind | undefined {
  const reasons = arrayAt(error, "details").map((detail) => stringAt(detail, "reason"));
  if (reasons.includes("API_KEY_INVALID") || /api key (not valid|invalid|expired)/i.test(message ?? "")) {
    return "upstream_credentials";
  }
  return namesLostCache(message) ? "invalid_request" : undefined;
}

/** The first invalid field, if a detail names it. */
function fieldAt(error: unknown): string | undefined {
  for (const detail of arrayAt(error, "details")) {
    const field = stringAt(arrayAt(detail, "fieldViolations")[0], "field");
    if (field) return field;
  }
  return undefined;
}

/** `RetryInfo` contains a duration such as "34.4s". */
function retryDelay(error: unknown): number | undefined {
  for (const detail of arrayAt(error, "details")) {
    const delay = isObject(detail) ? stringAt(detail, "retryDelay") : undefined;
    if (delay?.endsWith("s")) return Number(delay.slice(0, -1));
  }
  return undefined;
}

export function errorBody(error: GatewayError): string {
  const { status } = error.rule;
  const details: object[] = [];
  if (error.path !== undefined) {
    details.push({
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: error.path, description: error.messageWithPath }],
    });
  }
  if (error.retryAfterSeconds !== undefined) {
    details.push({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${error.retryAfterSeconds}s` });
  }
  return JSON.stringify({
    error: { code: status, message: error.messageWithPath, status: ERROR_WORDS[error.kind], details },
  });
}

export function encodeError(error: GatewayError): ErrorAnswer {
  return { status: error.rule.status, headers: { "content-type": "application/json" }, body: errorBody(error) };
}

/** Long enough for a busy client to read everything before it. */
const OWN_READ_MS = 100;

/**
 * Sent twice: newer readers recognise an error only as a framed event, older ones only as bare JSON in a separate read, which the
 * pause produces (sdks 1.5). In an array it is the last element.
 */
export function encodeStreamError(
  error: GatewayError,
  _requestId: string,
  { options, begun }: StreamState<GenaiOptions>,
): StreamErrorWrite[] {
  const body = errorBody(error);
  if (options.arrayFraming) return [{ text: `${begun ? ",\r\n" : "["}${body}]`, pauseMs: 0 }];
  return [
    { text: `data: ${body}\n\n`, pauseMs: 0 },
    { text: body, pauseMs: OWN_READ_MS },
  ];
}
