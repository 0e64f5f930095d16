import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { type FailureWords, reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

const KINDS: CodeTable = [
  [/DataInspection|data_inspection|Infringement/, "content_blocked"],
  // An unpaid bill is reported with a status of 400.
  [/InvalidApiKey|invalid_api_key|Arrearage|AccessDenied/, "upstream_credentials"],
  [/^Throttling/, "rate_limited"],
  [/^InvalidParameter/, "invalid_request"],
];

function factsOf(body: JsonObject | undefined): FailureWords {
  // The native form has no envelope; the compatible endpoint in front of it answers with one.
  const failure = objectAt(body, "error") ?? body;
  const code = stringAt(failure, "code");
  return { message: stringAt(failure, "message"), kind: kindOfCode(KINDS, code), code };
}

/** An answer `{ code, message, request_id }`. */
export function readError(answer: MediaAnswer): GatewayError {
  return failedAnswer(answer, factsOf(answer.body));
}

/** The same two fields in a task, for one image of several, or in an answer of HTTP 200. */
export function readFailure(failure: JsonObject | undefined): GatewayError {
  return reportedFailure(factsOf(failure));
}
