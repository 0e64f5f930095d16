import type { Bound } from "../bound.ts";
import type { ActualUse, Admission, CallEstimate, Clocks, Entry, KeyBounds } from "./entry.ts";

/** The entry and admission of work that is done already. */
export class DoneEntry implements Entry, Admission {
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  #parts: readonly Bound[] = [];
  #model = "";
  atMs = 0;
  endUser: string | undefined;

  constructor(keyBounds: KeyBounds, clocks: Clocks) {
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
  }

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.#parts = this.#keyBounds.parts?.known(call) ?? [];
    this.#model = call.model;
    this.atMs = this.#clocks.wallMs();
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

  release({ costNanoUsd, tokens, counted }: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    const nowMs = this.#clocks.nowMs();
    const models = this.#keyBounds.parts?.ofModel(counted?.model ?? this.#model) ?? [];
    for (const { tokensPerMinute, account } of [...this.#keyBounds.bounds, ...this.#parts, ...models]) {
      account.meter.add(costNanoUsd, this.atMs, counted?.tokens, counted?.calls);
      if (tokensPerMinute === undefined) continue;
      account.tokens.add(nowMs, tokens);
      account.lastUsedMs = nowMs;
    }
  }

  addRateHeaders(): void {}
}
