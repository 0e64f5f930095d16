import type { Exchange } from "../../exchange.ts";
import { HostError } from "../../host-error.ts";
import { isObject, type JsonObject } from "../../json.ts";
import { type FieldRules, faultIn } from "../../media/field-rules.ts";
import { isJson } from "../../media/is-json.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

export function dashscopeError(status: number, code: string, message: string): HostError {
  return new HostError(status, JSON.stringify({ code, message, request_id: "req_simulated" }));
}

export const invalidParameter = (message: string): HostError => dashscopeError(400, "InvalidParameter", message);

export const modelNotFound = (model: string): HostError =>
  dashscopeError(404, "ModelNotFound", `Model ${model} does not exist, or is not served at this URL.`);

/** How the host reports moderation: of prompts and of results, before a task and inside one. */
export const HELD_BACK = { code: "DataInspectionFailed", message: "Output data may contain inappropriate content." };
export const FAILED = { code: "InternalError.Algo", message: "The algorithm failed at the task." };

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: dashscopeError(400, "DataInspectionFailed", "Input data may contain inappropriate content."),
  busy: dashscopeError(429, "Throttling.RateQuota", "Requests rate limit exceeded, please try again later."),
  broken: dashscopeError(500, "InternalError", "An internal error has occurred, please try again later."),
  overloaded: dashscopeError(503, "ServiceUnavailable", "The service is temporarily overloaded, try again later."),
};

/** The body, where it is JSON and an object. */
export function bodyOf(exchange: Exchange): JsonObject {
  if (!isJson(exchange.headers)) {
    throw invalidParameter("Content-Type must be application/json.");
  }
  if (!isObject(exchange.body)) throw invalidParameter("The request body is not a JSON object.");
  return exchange.body;
}

/** Throws the first fault of an object of the request, which is called by its path. */
export function checkObject(body: JsonObject, rules: FieldRules, required: readonly string[], prefix = ""): void {
  const fault = faultIn(body, rules, required, prefix);
  if (fault !== undefined) throw invalidParameter(fault.message);
}
