import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "../media-adapters/code-table.ts";
import { reportedFailure } from "../media-adapters/failed-job.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

/** The second version has words for its errors, and words or the first version's numbers for those of its jobs. */
const KINDS: CodeTable = [
  [/^(1026|1027)$/, "content_blocked"],
  [/^(1004|1008|2049)$/, "upstream_credentials"],
  [/^(1002|1039)$/, "rate_limited"],
  [/^1001$/, "upstream_timeout"],
  [/^2013$/, "invalid_request"],
  [/sensitive|moderation|safety/i, "content_blocked"],
  [/balance|quota|authentication|authoriz|api.?key|permission/i, "upstream_credentials"],
  [/rate.?limit/i, "rate_limited"],
  [/invalid|bad.?request/i, "invalid_request"],
];

/** The error that an answer of HTTP 200 may hold. */
export function failureInside({ body }: MediaAnswer): GatewayError | undefined {
  const said = objectAt(body, "base_resp");
  const code = numberAt(said, "status_code") ?? 0;
  if (code === 0) return undefined;
  return reportedFailure({
    kind: kindOfCode(KINDS, String(code)) ?? "upstream_failed",
    message: stringAt(said, "status_msg"),
    code: String(code),
  });
}

export function minimaxError(answer: MediaAnswer): GatewayError {
  const inside = failureInside(answer);
  if (inside) return inside;
  const error = objectAt(answer.body, "error");
  const type = stringAt(error, "type");
  return failedAnswer(answer, { message: stringAt(error, "message"), kind: kindOfCode(KINDS, type), code: type });
}

/** The `error` of a job of the second version. */
export function taskError(error: JsonObject | undefined, status: string): GatewayError {
  const code = stringAt(error, "code") ?? numberAt(error, "code")?.toString();
  return reportedFailure({
    kind: kindOfCode(KINDS, code) ?? "upstream_failed",
    message: stringAt(error, "message"),
    code: code ?? status,
  });
}
