import type { CausingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { GuardRun } from "./guard-run.ts";

/** The call on whose behalf a guard asks outside of the gateway. */
export interface GuardAsker {
  readonly gateway: Gateway;
  readonly call: CausingCall;
  readonly run: GuardRun;
}
