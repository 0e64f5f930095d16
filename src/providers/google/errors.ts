import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { decodeError } from "../../dialects/genai/answer/errors.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { reportedFailure } from "../media-adapters/failed-job.ts";

/** A refused prompt is a plain 400 or code 3; only its message distinguishes it from a bad field. */
const REFUSAL = /responsible ai|usage guidelines|sensitive words|safety (?:filter|polic)|content polic/i;

/** Errors of operations are numbered as in gRPC. */
const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
};

export function googleError({ status, text, retryAfterSeconds }: MediaAnswer): GatewayError {
  return refusalOr(decodeError({ status, body: text, retryAfterSeconds }));
}

/** The `error` of an operation that is done. */
export function operationError(operation: JsonObject): GatewayError {
  const error = objectAt(operation, "error");
  const code = numberAt(error, "code") ?? 13;
  const status = STATUS_OF_CODE[code] ?? (code >= 400 ? code : 500);
  const read = refusalOr(decodeError({ status, body: JSON.stringify({ error }) }));
  // The job failed, not the answer, and its reason is worth showing.
  return read.kind === "upstream_failed"
    ? reportedFailure({ message: stringAt(error, "message"), code: String(code) })
    : read;
}

function refusalOr(error: GatewayError): GatewayError {
  return error.kind === "invalid_request" && REFUSAL.test(error.message)
    ? new GatewayError("content_blocked", error.message)
    : error;
}
