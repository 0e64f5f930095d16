import { withoutAbsent } from "../../base/without-absent.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { LiveStep } from "../../canon/live.ts";
import { stepOf } from "../session/live-step.ts";

/** Tells the client what is wrong with its event. Nothing is sent to the host, and the session continues. */
export const errorStep = (error: GatewayError, eventId: string | undefined): LiveStep =>
  stepOf([], [{ type: "error", error, fatal: false, ...withoutAbsent({ eventId }) }]);
