import type { HostError } from "../../host-error.ts";
import type { Refusals } from "../../media/fields.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";
import {
  type GoogleHost,
  googleError,
  googleFailure,
  invalid,
  invalidValue,
  modelNotFound,
  unknownName,
} from "./text/errors.ts";

export const GOOGLE_REFUSALS: Refusals = {
  unknown: unknownName,
  missing: (path) => invalid(`${path === "" ? "The request" : path} is required, and must not be empty.`),
  invalid: (path, expected, value) => invalidValue(path, expected, value),
};

/** A field that another host or model has. */
export function unsupported(name: string, model: string): HostError {
  return invalid(`\`${name}\` isn't supported by ${model}. Remove it from the request.`);
}

export function noSuchModel(host: GoogleHost, model: string, verb: string, path: string): HostError {
  if (host === "vertex") return modelNotFound(host, model, path);
  const message = `models/${model} is not found for API version v1beta, or is not supported for ${verb}.`;
  return googleError(404, "NOT_FOUND", message);
}

/** The outcomes that are immediate errors, in Google's words. */
export function immediateErrors(model: string, host: GoogleHost): ImmediateErrors {
  return {
    busy: googleFailure("429", model, host),
    broken: googleFailure("500", model, host),
    overloaded: googleFailure("503", model, host),
    blocked: invalid(
      "The prompt could not be submitted: it holds words that violate the responsible AI practices. Rephrase it. Support codes: 42876398",
    ),
  };
}
