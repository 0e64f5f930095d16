import type { Principal } from "../../access/principal.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** The call on whose behalf a guard asks outside of the gateway. */
export interface GuardAsker {
  readonly gateway: Gateway;
  readonly principal: Principal;
  readonly incoming: Pick<IncomingRequest, "dialect" | "requestId" | "require">;
}
