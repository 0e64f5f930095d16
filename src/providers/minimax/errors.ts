import type { ErrorKind, GatewayError } from "../../canon/error.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../../canon/json.ts";
import { failureToError, readRetryAfter } from "../../dialects/upstream-failure.ts";
import type { MediaAnswer } from "../../media/media-wire.ts";
import { type CodeTable, kindOfCode } from "../code-table.ts";
import { unmade } from "../unmade.ts";

const KIND_OF_CODE: Readonly<Record<number, ErrorKind>> = {
  1001: "upstream_timeout",
  1002: "rate_limited",
  1004: "upstream_credentials",
  1008: "upstream_credentials",
  1026: "content_blocked",
  1027: "content_blocked",
  1039: "rate_limited",
  2013: "invalid_request",
  2049: "upstream_credentials",
};

/** The second version names its errors by words, and its jobs' errors by the numbers of the first or by words. */
const KIND_OF_WORD: CodeTable = [
  [/sensitive|moderation|safety/i, "content_blocked"],
  [/balance|quota|authentication|authoriz|api.?key|permission/i, "upstream_credentials"],
  [/rate.?limit/i, "rate_limited"],
  [/invalid|bad.?request/i, "invalid_request"],
];

/** The failure that an answer of HTTP 200 may hold. */
export function failureInside({ body }: MediaAnswer): GatewayError | undefined {
  const said = objectAt(body, "base_resp");
  const code = numberAt(said, "status_code") ?? 0;
  if (code === 0) return undefined;
  return unmade({
    kind: KIND_OF_CODE[code] ?? "upstream_failed",
    message: stringAt(said, "status_msg"),
    code: String(code),
  });
}

export function minimaxError(answer: MediaAnswer): GatewayError {
  const inside = failureInside(answer);
  if (inside) return inside;
  const error = objectAt(answer.body, "error");
  const type = stringAt(error, "type");
  return failureToError({
    status: answer.status,
    message: stringAt(error, "message"),
    kind: kindOfCode(KIND_OF_WORD, type),
    code: type,
    retryAfterSeconds: readRetryAfter(answer.retryAfter),
  });
}

/** The `error` of a job of the second version. */
export function taskError(error: JsonObject | undefined, status: string): GatewayError {
  const code = stringAt(error, "code") ?? numberAt(error, "code")?.toString();
  return unmade({
    kind: KIND_OF_CODE[Number(code)] ?? kindOfCode(KIND_OF_WORD, code) ?? "upstream_failed",
    message: stringAt(error, "message"),
    code: code ?? status,
  });
}
