import { HostError } from "../../host-error.ts";
import type { JsonObject } from "../../json.ts";
import type { Refusals } from "../../media/fields.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

export function refused(status: number, error: string, more: JsonObject = {}): HostError {
  return new HostError(status, JSON.stringify({ error, ...more }));
}

/** What the validation of a body found, with the path as a list. */
function issue(path: string, message: string): HostError {
  const issues = [{ path: path === "" ? [] : path.split("."), message }];
  return refused(400, "Validation of body failed", { issues });
}

export const RUNWAY_REFUSALS: Refusals = {
  unknown: (name, path) => issue(path, `Unrecognized key: "${name}"`),
  missing: (path) => issue(path, "Required"),
  invalid: (path, expected, value) =>
    issue(path, `Invalid input: expected ${expected}, received ${JSON.stringify(value).slice(0, 100)}`),
};

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: refused(400, "The prompt was refused by content moderation."),
  busy: new HostError(429, JSON.stringify({ error: "You have reached the limit of requests." }), {
    "retry-after": "1",
  }),
  broken: refused(500, "Simulated: an internal error has occurred."),
  overloaded: refused(503, "Simulated: the service is overloaded."),
};
