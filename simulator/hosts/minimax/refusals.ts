import { HostError } from "../../host-error.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { Refusals } from "../../media/fields.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

/** What the numbers of this host mean. */
export const CODES = {
  ok: 0,
  unknown: 1000,
  timeout: 1001,
  rateLimit: 1002,
  unauthorised: 1004,
  inputSensitive: 1026,
  outputSensitive: 1027,
  badParameters: 2013,
  invalidKey: 2049,
} as const;

export function baseResponse(code: number, message: string): JsonObject {
  return { status_code: code, status_msg: message };
}

export const SUCCESS: JsonObject = baseResponse(CODES.ok, "success");

/** How one generation of the API words a refusal. */
export type Word = (status: number, code: number, message: string) => HostError;

/** The first generation fails with HTTP 200, and says so inside. */
export const firstWord: Word = (_status, code, message) =>
  new HostError(200, JSON.stringify({ base_resp: baseResponse(code, message) }));

const TYPES: Readonly<Record<number, string>> = {
  400: "bad_request_error",
  401: "authorized_error",
  404: "not_found_error",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** The second generation has a status, and the number at the end of its message. */
export const secondWord: Word = (status, code, message) => {
  const error = { type: TYPES[status] ?? "api_error", message: `${message} (${code})`, http_code: String(status) };
  return new HostError(status, JSON.stringify({ type: "error", error, request_id: "req_simulated" }));
};

export function badParameters(word: Word, message: string): HostError {
  return word(400, CODES.badParameters, `invalid params, ${message}`);
}

export function refusalsIn(word: Word): Refusals {
  const nameOf = (path: string): string => (path === "" ? "the body" : path);
  return {
    unknown: (name, path) => badParameters(word, `unknown field ${name} in ${nameOf(path)}`),
    missing: (path) => badParameters(word, `${nameOf(path)} is required`),
    invalid: (path, expected, value: Json) =>
      badParameters(word, `${nameOf(path)} must be ${expected}, not ${JSON.stringify(value).slice(0, 100)}`),
  };
}

export function immediateErrors(word: Word): ImmediateErrors {
  return {
    blocked: word(400, CODES.inputSensitive, "input new_sensitive"),
    busy: word(429, CODES.rateLimit, "rate limit"),
    broken: word(500, CODES.unknown, "unknown error"),
    overloaded: word(503, CODES.timeout, "request timeout"),
  };
}
