import type { ClaimedLine } from "../storage/tables/batch-lines.ts";
import type { OpenBatch } from "../storage/tables/batches.ts";

interface Held {
  batch: OpenBatch;
  /** Of lines that wait. */
  waiting: number;
  /** Of lines that this process has taken, and that do not hold their own cost yet. */
  taken: Map<number, number>;
  /** When the sum of waiting lines was read. */
  readMs: number;
}

/**
 * What this process holds against budgets for batches: the cost of the lines that wait. Only the process that has the lease of a
 * batch holds it, so that several processes do not hold it several times. A line that is admitted reserves its own cost; what is
 * held shrinks in the same turn.
 */
export class BatchHolds {
  readonly #hold: (batch: OpenBatch, costNanoUsd: number) => void;
  readonly #held = new Map<string, Held>();

  constructor(hold: (batch: OpenBatch, costNanoUsd: number) => void) {
    this.#hold = hold;
  }

  /** How old the sum of waiting lines is; Infinity if nothing is held. */
  ageMs(batchId: string, nowMs: number): number {
    return nowMs - (this.#held.get(batchId)?.readMs ?? Number.NEGATIVE_INFINITY);
  }

  set(batch: OpenBatch, waiting: number, readMs: number): void {
    const taken = this.#held.get(batch.id)?.taken ?? new Map<number, number>();
    const held = { batch, waiting, taken, readMs };
    this.#held.set(batch.id, held);
    this.#update(held);
  }

  /** Another process has taken over the other batches, or they are done. */
  keepOnly(batches: readonly Pick<OpenBatch, "id">[]): void {
    const kept = new Set(batches.map(({ id }) => id));
    for (const [id, { batch }] of this.#held) {
      if (kept.has(id)) continue;
      this.#held.delete(id);
      this.#hold(batch, 0);
    }
  }

  /** It does not wait any more, and is about to be admitted. */
  claim({ batchId, line, heldNanoUsd }: ClaimedLine): void {
    const held = this.#held.get(batchId);
    if (held === undefined) return;
    held.waiting -= heldNanoUsd;
    held.taken.set(line, heldNanoUsd);
  }

  /** It holds its own cost. */
  admit({ batchId, line }: ClaimedLine): void {
    const held = this.#held.get(batchId);
    if (held?.taken.delete(line)) this.#update(held);
  }

  /** It waits again. */
  putBack({ batchId, line, heldNanoUsd }: ClaimedLine): void {
    const held = this.#held.get(batchId);
    if (held === undefined) return;
    held.taken.delete(line);
    held.waiting += heldNanoUsd;
    this.#update(held);
  }

  #update({ batch, waiting, taken }: Held): void {
    let sum = Math.max(0, waiting);
    for (const nanoUsd of taken.values()) sum += nanoUsd;
    this.#hold(batch, sum);
  }
}
