import type { Exchange } from "../../exchange.ts";
import { HostError } from "../../host-error.ts";
import { isObject, type JsonObject } from "../../json.ts";
import { type FieldRules, faultIn } from "../../media/field-rules.ts";
import { isJson } from "../../media/is-json.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  404: "NotFound",
  409: "Conflict",
  429: "TooManyRequests",
  500: "InternalServerError",
  503: "ServiceUnavailable",
};

export function arkError(status: number, code: string, message: string, param = ""): HostError {
  const said = { code, message: `${message} Request id: req_simulated`, param, type: TYPES[status] ?? "BadRequest" };
  return new HostError(status, JSON.stringify({ error: said }));
}

export const invalidParameter = (param: string, message: string): HostError =>
  arkError(
    400,
    "InvalidParameter",
    `The parameter \`${param}\` specified in the request is not valid: ${message}`,
    param,
  );

export const modelNotFound = (model: string): HostError =>
  arkError(404, "UnsupportedModel", `The model ${model} does not exist or does not support this API.`, "model");

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: arkError(
    400,
    "InputTextSensitiveContentDetected",
    "The request failed because the input text may contain sensitive information.",
    "prompt",
  ),
  busy: arkError(429, "RateLimitExceeded.EndpointRPMExceeded", "The requests per minute of this endpoint are used up."),
  broken: arkError(500, "InternalServiceError", "The service encountered an unexpected internal error."),
  overloaded: arkError(503, "ServerOverloaded", "The service is currently unable to handle additional requests."),
};

/** The body, where it is JSON and an object. */
export function bodyOf(exchange: Exchange): JsonObject {
  if (!isJson(exchange.headers)) {
    throw arkError(400, "InvalidParameter", "The content type of the request must be application/json.");
  }
  if (!isObject(exchange.body)) throw arkError(400, "InvalidParameter", "The request body is not a JSON object.");
  return exchange.body;
}

export function checkBody(body: JsonObject, rules: FieldRules, required: readonly string[]): void {
  const fault = faultIn(body, rules, required);
  if (fault?.kind === "missing") throw arkError(400, "MissingParameter", fault.message, fault.field);
  if (fault !== undefined) throw invalidParameter(fault.field, fault.message);
}
