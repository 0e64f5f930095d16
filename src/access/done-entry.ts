import type { Admission, Clocks, Entry, KeyBounds } from "./entry.ts";

/** The entry and admission of work that is done already. */
export class DoneEntry implements Entry, Admission {
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  atMs = 0;

  constructor(keyBounds: KeyBounds, clocks: Clocks) {
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
  }

  admit(): Admission {
    this.atMs = this.#clocks.wallMs();
    return this;
  }

  admitShared(): Admission {
    return this.admit();
  }

  leave(): void {}

  extend(): boolean {
    return false;
  }

  release({ costNanoUsd, tokens }: { costNanoUsd: number; tokens: number }): void {
    if (this.#released) return;
    this.#released = true;
    const nowMs = this.#clocks.nowMs();
    for (const { tokensPerMinute, account } of this.#keyBounds.bounds) {
      if (costNanoUsd > 0) account.meter.add(costNanoUsd, this.atMs);
      if (tokensPerMinute === undefined) continue;
      account.tokens.add(nowMs, tokens);
      account.lastUsedMs = nowMs;
    }
  }

  addRateHeaders(): void {}
}
