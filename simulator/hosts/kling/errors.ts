import { HostError } from "../../host-error.ts";
import type { ImmediateErrors } from "../../media/play-outcome.ts";

export function klingError(status: number, code: number, message: string): HostError {
  return new HostError(status, JSON.stringify({ code, message, request_id: "req_simulated" }));
}

export const invalidParameter = (message: string): HostError => klingError(400, 1201, message);
export const notFound = (message: string): HostError => klingError(404, 1203, message);

export const IMMEDIATE_ERRORS: ImmediateErrors = {
  blocked: klingError(400, 1301, "The content of the request triggers the platform's content security policy."),
  busy: klingError(429, 1302, "The API request is too fast, exceeding the platform's rate limit."),
  broken: klingError(500, 5000, "Server internal error."),
  overloaded: klingError(503, 5001, "Server is temporarily unavailable, usually due to maintenance."),
};
