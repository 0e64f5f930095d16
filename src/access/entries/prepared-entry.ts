import type { Principal } from "../principal.ts";
import { checkScopes } from "../scopes.ts";
import type { Admission, CallEstimate, Clocks, Entry } from "./entry.ts";

/** The entry and admission of a request that is prepared and not sent. The scopes of its key apply, its limits do not. */
export class PreparedEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #clocks: Clocks;
  atMs = 0;
  endUser: string | undefined;

  constructor(principal: Principal, clocks: Clocks) {
    this.#principal = principal;
    this.#clocks = clocks;
  }

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  admitShared(call: CallEstimate): Admission {
    return this.admit(call);
  }

  leave(): void {}

  grow(): void {}

  get latest(): this {
    return this;
  }

  begin(): undefined {}

  refusalOf(): undefined {}

  isCountedAt(): boolean {
    return false;
  }

  extend(): undefined {}

  release(): void {}

  addRateHeaders(): void {}
}
