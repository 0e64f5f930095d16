import type { Operation } from "../canon/operation.ts";

/** Takes the actual cost, and the time in its receipt. */
type Release = (actualNanoUsd: number, atMs: number) => void;

/** Holds the money that operations may cost, from their submit until they are settled (H23). */
export class Reservations {
  readonly #hold: (keyId: string, costNanoUsd: number) => Release;
  readonly #held = new Map<string, Release>();

  constructor(hold: (keyId: string, costNanoUsd: number) => Release) {
    this.#hold = hold;
  }

  add({ id, keyId }: Operation, costNanoUsd: number): void {
    if (!this.#held.has(id)) this.#held.set(id, this.#hold(keyId, costNanoUsd));
  }

  /** The ids of operations that money is held for. */
  get held(): string[] {
    return [...this.#held.keys()];
  }

  /** The operation has ended; its cost is counted, whether or not this process held money for it. */
  settle({ id, keyId, createdAtMs }: Operation, actualNanoUsd: number): void {
    const release = this.#held.get(id) ?? this.#hold(keyId, 0);
    this.#held.delete(id);
    release(actualNanoUsd, createdAtMs);
  }
}
