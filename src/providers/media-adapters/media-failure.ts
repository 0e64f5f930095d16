import { isObject, numberAt, stringAt } from "../../base/json.ts";
import { type ErrorKind, GatewayError } from "../../canon/error.ts";
import { failureToError } from "../../dialects/upstream-failure.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { type CodeTable, kindOfCode } from "./code-table.ts";
import { type FailureWords, reportedFailure } from "./failed-job.ts";

interface ErrorWords {
  message: string | undefined;
  code: string | undefined;
  path: string | undefined;
  kind: ErrorKind | undefined;
}

/**
 * The message and codes of an error, in the forms that hosts similar to chat completions share: `{ error: { message, code, type,
 * param } }`, `{ error: "…", code }`, and either of them without its envelope. A code may be a number.
 */
export function errorWords(body: unknown, codes: CodeTable): ErrorWords {
  const nested = isObject(body) ? body["error"] : undefined;
  const error = isObject(nested) ? nested : body;
  const code = stringAt(error, "code") ?? numberAt(error, "code")?.toString();
  return {
    message: typeof nested === "string" ? nested : stringAt(error, "message"),
    code,
    path: stringAt(error, "param"),
    kind: kindOfCode(codes, code) ?? kindOfCode(codes, stringAt(error, "type")),
  };
}

/** The error of a failed answer, whose message and code were found by the host's own reader. */
export function failedAnswer({ status, retryAfterSeconds }: MediaAnswer, words: FailureWords): GatewayError {
  return failureToError({ ...words, status, retryAfterSeconds });
}

/** The error of a failed answer, or of a 2xx answer whose body holds an error. */
export function mediaFailure(answer: MediaAnswer, codes: CodeTable): GatewayError {
  return failedAnswer(answer, errorWords(answer.body, codes));
}

/** The error of an accepted job that failed. */
export function jobFailure(body: unknown, codes: CodeTable): GatewayError {
  const { message, code, kind } = errorWords(body, codes);
  return reportedFailure({ message, code, kind });
}

/** The error of a 2xx response that contains neither a result nor an error. */
export function emptyAnswer(what: string): GatewayError {
  return new GatewayError("upstream_failed", `The provider's response does not contain ${what}.`);
}
