import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media/code-table.ts";
import { type FailureWords, reportedFailure } from "../media/failed-job.ts";
import { failedAnswer } from "../media/media-failure.ts";

const KINDS: CodeTable = [
  [/DataInspection|data_inspection|Infringement/, "content_blocked"],
  // A bill that is not paid is told with a status of 400.
  [/InvalidApiKey|invalid_api_key|Arrearage|AccessDenied/, "upstream_credentials"],
  [/^Throttling/, "rate_limited"],
  [/^InvalidParameter/, "invalid_request"],
];

function factsOf(body: JsonObject | undefined): FailureWords {
  // The native form has no envelope; what stands before it (the compatible address) answers with one.
  const failure = objectAt(body, "error") ?? body;
  const code = stringAt(failure, "code");
  return { message: stringAt(failure, "message"), kind: kindOfCode(KINDS, code), code };
}

/** An answer `{ code, message, request_id }`. */
export function readError(answer: MediaAnswer): GatewayError {
  return failedAnswer(answer, factsOf(answer.body));
}

/** The same two fields in a task, for one image of several, or beside HTTP 200. */
export function readFailure(failure: JsonObject | undefined): GatewayError {
  return reportedFailure(factsOf(failure));
}
