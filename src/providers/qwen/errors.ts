import type { GatewayError } from "../../canon/error.ts";
import { type JsonObject, objectAt, stringAt } from "../../canon/json.ts";
import { type FailureFacts, failureToError, readRetryAfter } from "../../dialects/upstream-failure.ts";
import type { MediaAnswer } from "../../media/media-wire.ts";
import { type CodeTable, kindOfCode } from "../code-table.ts";
import { unmade } from "../unmade.ts";

const KINDS: CodeTable = [
  [/DataInspection|data_inspection|Infringement/, "content_blocked"],
  // A bill that is not paid is told with a status of 400.
  [/InvalidApiKey|invalid_api_key|Arrearage|AccessDenied/, "upstream_credentials"],
  [/^Throttling/, "rate_limited"],
  [/^InvalidParameter/, "invalid_request"],
];

function factsOf(body: JsonObject | undefined): Omit<FailureFacts, "status"> {
  // The native form has no envelope; what stands before it (the compatible address) answers with one.
  const failure = objectAt(body, "error") ?? body;
  const code = stringAt(failure, "code");
  return { message: stringAt(failure, "message"), kind: kindOfCode(KINDS, code), code };
}

/** An answer `{ code, message, request_id }`. */
export function readError({ status, body, retryAfter }: MediaAnswer): GatewayError {
  return failureToError({ ...factsOf(body), status, retryAfterSeconds: readRetryAfter(retryAfter) });
}

/** The same two fields in a task, for one picture of several, or beside HTTP 200. */
export function readFailure(failure: JsonObject | undefined): GatewayError {
  return unmade(factsOf(failure));
}
