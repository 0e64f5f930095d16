import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { type FailureWords, reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

const KINDS: CodeTable = [
  [/SensitiveContent|RiskDetection|PolicyViolation|ContentSecurity/, "content_blocked"],
  // A model that the account has not activated answers 404, though it exists: the operator must activate it.
  [/Authentication|Unauthorized|AccessDenied|AccountOverdue|ModelNotOpen|QuotaExceeded/, "upstream_credentials"],
  [/RateLimit/, "rate_limited"],
  [/Overload/, "overloaded"],
  [/^(Invalid|Missing)Parameter/, "invalid_request"],
];

function factsOf(failure: JsonObject | undefined): FailureWords {
  const code = stringAt(failure, "code");
  return {
    message: stringAt(failure, "message"),
    kind: kindOfCode(KINDS, code),
    code,
    path: stringAt(failure, "param"),
    details: failure,
  };
}

/** An answer `{ error: { code, message, param, type } }`. */
export function readError(answer: MediaAnswer): GatewayError {
  return failedAnswer(answer, factsOf(objectAt(answer.body, "error")));
}

/** The same object for one image of several, in an event, or in a job. */
export function readFailure(failure: JsonObject | undefined): GatewayError {
  return reportedFailure(factsOf(failure));
}
