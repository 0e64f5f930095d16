import type { GatewayError } from "../../../canon/error.ts";
import type { ErrorAnswer, StreamErrorWrite } from "../../dialect.ts";
import { ERROR_WORDS } from "./error-words.ts";

function errorBody(error: GatewayError): string {
  const { type, code } = ERROR_WORDS[error.kind];
  return JSON.stringify({
    error: { message: error.messageWithPath, type, param: error.path ?? null, code: error.code ?? code },
  });
}

export function encodeError(error: GatewayError): ErrorAnswer {
  return {
    status: error.rule.status,
    headers: { "content-type": "application/json" },
    body: errorBody(error),
  };
}

export function encodeStreamError(error: GatewayError): StreamErrorWrite[] {
  return [{ text: `data: ${errorBody(error)}\n\n`, pauseMs: 0 }];
}
