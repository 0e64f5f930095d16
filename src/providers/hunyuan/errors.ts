import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

const KINDS: CodeTable = [
  [/Illegal|Sensitive|Moderation/, "content_blocked"],
  // `ResourceUnavailable` is about the account: the service is not activated, not paid, or used up.
  [/^(AuthFailure|UnauthorizedOperation|ResourceUnavailable)/, "upstream_credentials"],
  [/^(RequestLimitExceeded|LimitExceeded)/, "rate_limited"],
  [/^ResourceInsufficient/, "overloaded"],
  [/^(InvalidParameter|MissingParameter|UnknownParameter|UnsupportedOperation)/, "invalid_request"],
];

/** The failure of a host's code and message, wherever they were found. */
export function readFailure(code: string | undefined, message: string | undefined): GatewayError {
  return reportedFailure({ code, message, kind: kindOfCode(KINDS, code) });
}

/** Errors come with HTTP 200, as `{ Response: { Error: { Code, Message } } }`. */
export function readRefusal(body: JsonObject | undefined): GatewayError | undefined {
  const error = objectAt(objectAt(body, "Response"), "Error");
  return error && readFailure(stringAt(error, "Code"), stringAt(error, "Message"));
}

/** A proxy in front of the host may answer with another status. */
export function readError(answer: MediaAnswer): GatewayError {
  const error = objectAt(objectAt(answer.body, "Response"), "Error");
  const code = stringAt(error, "Code");
  return failedAnswer(answer, { message: stringAt(error, "Message"), kind: kindOfCode(KINDS, code), code });
}
