import { HostError } from "../../host-error.ts";
import type { FieldFault } from "../../media/field-rules.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

export const detailError = (status: number, detail: string): HostError =>
  new HostError(status, JSON.stringify({ detail }));

const TYPES: Readonly<Record<FieldFault["kind"], string>> = {
  missing: "missing",
  unknown: "extra_forbidden",
  wrong: "value_error",
};

/** A refusal of the body, which names the field. */
export function unprocessable({ field, kind, message }: FieldFault): HostError {
  return new HostError(422, JSON.stringify({ detail: [{ loc: ["body", field], msg: message, type: TYPES[kind] }] }));
}

/** A forbidden prompt is not refused immediately: the task is accepted, and its status says so. */
export const IMMEDIATE_ERRORS: Omit<ImmediateErrors, "blocked"> = {
  busy: detailError(429, "Rate limit exceeded."),
  broken: detailError(500, "Internal server error."),
  overloaded: detailError(503, "Service is temporarily unavailable."),
};
