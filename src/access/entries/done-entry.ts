import type { Bound } from "../bound.ts";
import {
  type ActualUse,
  type Admission,
  type CallEstimate,
  type Clocks,
  type KeyBounds,
  UnlimitedEntry,
} from "./entry.ts";

/** Of work that is done already. */
export class DoneEntry extends UnlimitedEntry {
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  #parts: readonly Bound[] = [];
  #model = "";

  constructor(keyBounds: KeyBounds, clocks: Clocks) {
    super();
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
}
