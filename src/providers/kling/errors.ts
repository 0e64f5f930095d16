import { type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { type FailureWords, reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

const KINDS: CodeTable = [
  // Problems of the account: its token, its balance, its packages, its IP allowlist.
  [/^(100\d|110\d|1304)$/, "upstream_credentials"],
  [/^120[01]$/, "invalid_request"],
  [/^130[01]$/, "content_blocked"],
  [/^130[23]$/, "rate_limited"],
  [/^5001$/, "overloaded"],
  [/^5002$/, "upstream_timeout"],
];

/** The reason of a failed job is a sentence without a code. */
const MODERATED = /risk control|sensitive|violat|policy|moderat|prohibited/i;

function factsOf(body: JsonObject | undefined): FailureWords {
  const code = numberAt(body, "code")?.toString();
  return { message: stringAt(body, "message"), kind: kindOfCode(KINDS, code), code };
}

/** An answer `{ code, message, request_id }`. */
export function readError(answer: MediaAnswer): GatewayError {
  return failedAnswer(answer, factsOf(answer.body));
}

/** The same in an answer of HTTP 200, where a code other than 0 is an error. */
export function readRefusal(body: JsonObject | undefined): GatewayError | undefined {
  const code = numberAt(body, "code");
  return code === undefined || code === 0 ? undefined : reportedFailure(factsOf(body));
}

export function readJobFailure(data: JsonObject): GatewayError {
  const message = stringAt(data, "task_status_msg");
  return reportedFailure({ message, kind: message && MODERATED.test(message) ? "content_blocked" : undefined });
}
