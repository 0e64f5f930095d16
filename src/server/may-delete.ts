import type { Principal } from "../access/principal.ts";
import { isVisible, type Owned } from "../canon/ownership.ts";
import type { Gateway } from "../relay/gateway.ts";

/** A key may delete what it sees, and what its child keys have stored, without seeing that. */
export const mayDelete =
  (principal: Principal, { keys }: Pick<Gateway, "keys">) =>
  (owned: Owned): boolean =>
    isVisible(owned, principal) || keys.makerOf(owned.keyId ?? "")?.keyId === principal.keyId;
