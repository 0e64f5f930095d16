import type { Actor } from "../../access/audit.ts";
import type { Operator } from "../../access/people/operator.ts";
import type { ClientConnection } from "../../relay/call.ts";

/** The operator as an actor of the audit log. */
export const actorOf = ({ name }: Operator, { address }: ClientConnection): Actor => ({
  who: `operator:${name}`,
  address,
});
