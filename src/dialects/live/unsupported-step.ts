import { GatewayError } from "../../canon/error.ts";
import type { LiveStep } from "../../canon/live.ts";
import { errorStep } from "./error-step.ts";

/** Refuses what hosts of this protocol have no form for. */
export function unsupportedStep(path: string, reason: string, eventId: string | undefined): LiveStep {
  const sentence = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`;
  return errorStep(new GatewayError("unsupported_parameter", sentence, { path }), eventId);
}
