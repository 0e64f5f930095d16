import type { Tap } from "../../dialects/dialect.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { GuardTap } from "./guard-tap.ts";

/** The tap with the guards on the response behind it, if there are any. */
export const guardedTap = (tap: Tap, call: Call, gateway: Gateway, attempt: LaneAttempt): Tap =>
  call.guards === undefined || call.guards.inForce.response.length === 0
    ? tap
    : new GuardTap(tap, call, call.guards, gateway, attempt);
