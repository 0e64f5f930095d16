import { isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { ErrorKind, GatewayError } from "../../../canon/error.ts";
import type { StreamErrorWrite, StreamState } from "../../dialect.ts";
import { decodeErrorObject as decodeStatusError } from "../../genai/answer/errors.ts";
import { failureToError, type UpstreamFailure } from "../../upstream-failure.ts";
import { ERROR_CODES } from "./error-words.ts";
import { EventWriter, isNumbered } from "./event-writer.ts";

/** Before a stream, errors have the vendor's usual form. */
export { encodeError } from "../../genai/answer/errors.ts";

export function decodeError(failure: UpstreamFailure): GatewayError {
  return decodeErrorObject(parseObject(failure.body), failure.status, failure.retryAfterSeconds);
}

const KIND_OF_CODE: ReadonlyMap<string, ErrorKind> = new Map([
  ["invalid_request", "invalid_request"],
  ["not_found", "not_found"],
  ["resource_exhausted", "rate_limited"],
  ["rate_limit_exceeded", "rate_limited"],
  ["content_blocked", "content_blocked"],
  ["deadline_exceeded", "upstream_timeout"],
  ["unavailable", "overloaded"],
]);

/** The vendor's usual form, with a number as `code`, or this API's own, with a word. */
export function decodeErrorObject(body: unknown, status?: number, retryAfterSeconds?: number): GatewayError {
  const error = objectAt(body, "error");
  const code = stringAt(error, "code");
  if (code === undefined || numberAt(error, "code") !== undefined)
    return decodeStatusError(body, status, retryAfterSeconds);
  const message = stringAt(error, "message");
  // Of a failed call, the status says more than the word.
  if (status !== undefined && status >= 400)
    return decodeStatusError({ error: { message } }, status, retryAfterSeconds);
  const kind = KIND_OF_CODE.get(code.split("/").at(-1)?.toLowerCase() ?? "");
  return failureToError({ status: status ?? 500, message, kind, retryAfterSeconds });
}

/** How far a stream has come. */
export interface StreamPosition {
  /** The number of the next event. */
  sequence: number;
}

/** An `error` event, which ends the stream. The vendor's SDKs hand it to the program like any other event. */
export function encodeStreamError(
  error: GatewayError,
  _requestId: string,
  { position, call }: StreamState,
): StreamErrorWrite[] {
  const events = new EventWriter({ numbered: isStreamPosition(position) || isNumbered(call?.request ?? {}) });
  if (isStreamPosition(position)) events.sequence = position.sequence;
  return [{ text: events.write("error", { error: errorWords(error) }), pauseMs: 0 }];
}

const isStreamPosition = (position: unknown): position is StreamPosition =>
  isObject(position) && typeof position["sequence"] === "number";

export const errorWords = (error: GatewayError): JsonObject => ({
  code: error.code ?? ERROR_CODES[error.kind],
  message: error.messageWithPath,
});
