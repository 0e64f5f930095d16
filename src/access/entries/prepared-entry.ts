import type { Principal } from "../principal.ts";
import { checkScopes } from "../scopes.ts";
import { type Admission, type CallEstimate, type Clocks, UnlimitedEntry } from "./entry.ts";

/** Of a request that is prepared and not sent. The scopes of its key apply, its limits do not. */
export class PreparedEntry extends UnlimitedEntry {
  readonly #principal: Principal;
  readonly #clocks: Clocks;

  constructor(principal: Principal, clocks: Clocks) {
    super();
    this.#principal = principal;
    this.#clocks = clocks;
  }

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  release(): void {}
}
