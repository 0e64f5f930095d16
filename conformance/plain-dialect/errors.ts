import { parseObject, stringAt } from "../../src/base/json.ts";
import type { GatewayError } from "../../src/canon/error.ts";
import type { ErrorAnswer, StreamErrorWrite } from "../../src/dialects/dialect.ts";
import type { UpstreamFailure } from "../../src/dialects/upstream-failure.ts";
import { failureToError } from "../../src/dialects/upstream-failure.ts";

export function decodeError({ status, body, retryAfterSeconds }: UpstreamFailure): GatewayError {
  return failureToError({ status, message: stringAt(parseObject(body), "message"), retryAfterSeconds });
}

/** The error kinds use the gateway's own words. */
const errorBody = (error: GatewayError): string =>
  JSON.stringify({ problem: error.kind, message: error.messageWithPath });

export function encodeError(error: GatewayError): ErrorAnswer {
  return { status: error.rule.status, headers: { "content-type": "application/json" }, body: errorBody(error) };
}

export const encodeStreamError = (error: GatewayError): StreamErrorWrite[] => [
  { text: `data: ${errorBody(error)}\n\n`, pauseMs: 0 },
];
