import { HostError } from "../../host-error.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

/** Every error is HTTP 200 here. */
export function tencentError(code: string, message: string): HostError {
  const said = { Response: { Error: { Code: code, Message: message }, RequestId: "req_simulated" } };
  return new HostError(200, JSON.stringify(said));
}

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: tencentError("OperationDenied.TextIllegalDetected", "The text contains illegal information."),
  busy: tencentError("RequestLimitExceeded", "The number of requests exceeds the frequency limit."),
  broken: tencentError("InternalError", "An internal error has occurred."),
  overloaded: tencentError("ResourceUnavailable", "The resource is unavailable at the moment."),
};
