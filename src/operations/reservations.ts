import type { Operation } from "../canon/operation.ts";

/** What it came to, at the moment in its receipt. */
type Release = (actualNanoUsd: number, atMs: number) => void;

/** Money that operations may cost is held from the moment they are taken until they are settled (H23). */
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

  /** The operation has ended; what it came to is counted, whether or not this process held anything for it. */
  settle({ id, keyId, createdAtMs }: Operation, actualNanoUsd: number): void {
    const release = this.#held.get(id) ?? this.#hold(keyId, 0);
    this.#held.delete(id);
    release(actualNanoUsd, createdAtMs);
  }
}
