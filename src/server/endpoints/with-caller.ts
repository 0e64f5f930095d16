import type { Principal } from "../../access/principal.ts";
import { countedCaller } from "../counted-caller.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";

type CallerHandler = (principal: Principal, routed: RoutedRequest, context: ServerContext) => Promise<Response>;

/** A handler for an authenticated client, whose request counts towards its limits and may take longer than those of strangers. */
export const withCaller =
  (handle: CallerHandler): Handler =>
  async (routed, context) => {
    const principal = await countedCaller(routed, context.gateway);
    routed.connection.hold();
    try {
      return await handle(principal, routed, context);
    } finally {
      routed.connection.rest();
    }
  };
