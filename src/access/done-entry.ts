import type { Bound } from "./bound.ts";
import type { ActualUse, Admission, CallEstimate, Clocks, Entry, KeyBounds } from "./entry.ts";

/** The entry and admission of work that is done already. */
export class DoneEntry implements Entry, Admission {
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  #parts: readonly Bound[] = [];
  atMs = 0;
  endUser: string | undefined;

  constructor(keyBounds: KeyBounds, clocks: Clocks) {
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
  }

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.#parts = this.#keyBounds.parts?.known(call) ?? [];
    this.atMs = this.#clocks.wallMs();
    return this;
  }

  admitShared(call: CallEstimate): Admission {
    return this.admit(call);
  }

  leave(): void {}

  grow(): void {}

  extend(): boolean {
    return false;
  }

  release({ costNanoUsd, tokens, counted }: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    const nowMs = this.#clocks.nowMs();
    for (const { tokensPerMinute, account } of [...this.#keyBounds.bounds, ...this.#parts]) {
      account.meter.add(costNanoUsd, this.atMs, counted?.tokens, counted?.calls);
      if (tokensPerMinute === undefined) continue;
      account.tokens.add(nowMs, tokens);
      account.lastUsedMs = nowMs;
    }
  }

  addRateHeaders(): void {}
}
