import { HostError } from "../../host-error.ts";
import type { Refusals } from "../../media/fields.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

/** This host says everything in one sentence. */
export function refused(status: number, detail: string): HostError {
  return new HostError(status, JSON.stringify({ detail }));
}

export const LUMA_REFUSALS: Refusals = {
  unknown: (name, path) => refused(400, `${path === "" ? "body" : path}: extra field ${name} is not permitted`),
  missing: (path) => refused(400, `${path === "" ? "body" : path}: field required`),
  invalid: (path, expected, value) =>
    refused(400, `${path}: must be ${expected}, not ${JSON.stringify(value).slice(0, 100)}`),
};

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: refused(400, "The prompt was not accepted by moderation"),
  busy: refused(429, "Rate limit exceeded"),
  broken: refused(500, "Internal server error"),
  overloaded: refused(503, "Service unavailable"),
};
