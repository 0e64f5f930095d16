import type { Operation } from "../canon/operation.ts";

/** Takes the actual cost, and the time in its receipt. */
type Release = (actualNanoUsd: number, atMs: number, tokens?: number, calls?: number) => void;

/** Whose money it is. */
type Owner = Pick<Operation, "keyId" | "project" | "model" | "tags" | "endUser">;

/** Holds the money that operations may cost, from their submit until they are settled (H23). */
export class Reservations {
  readonly #hold: (owner: Owner, costNanoUsd: number) => Release;
  readonly #held = new Map<string, Release>();

  constructor(hold: (owner: Owner, costNanoUsd: number) => Release) {
    this.#hold = hold;
  }

  add(operation: Operation, costNanoUsd: number): void {
    if (!this.#held.has(operation.id)) this.#held.set(operation.id, this.#hold(operation, costNanoUsd));
  }

  /** The ids of operations that money is held for. */
  get held(): string[] {
    return [...this.#held.keys()];
  }

  /**
   * The operation has ended; its cost is counted, whether or not this process reserved money for it, and with `isCounted` its call.
   */
  settle(operation: Operation, actualNanoUsd: number, isCounted = true): void {
    const release = this.#held.get(operation.id) ?? this.#hold(operation, 0);
    this.#held.delete(operation.id);
    release(actualNanoUsd, operation.createdAtMs, 0, isCounted ? 1 : 0);
  }
}
