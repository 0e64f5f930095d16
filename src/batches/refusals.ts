import type { OpenBatch } from "../storage/tables/batches.ts";

/** The refusals of a batch in a row after which its other lines wait, too. Lines of another model may still be allowed. */
const MAX_REFUSALS = 3;

/** Batches whose lines are refused at the moment. */
export class Refusals {
  readonly #ofBatch = new Map<string, { count: number; untilMs: number }>();

  isPaused(batchId: string, nowMs: number): boolean {
    const { count = 0, untilMs = 0 } = this.#ofBatch.get(batchId) ?? {};
    return count >= MAX_REFUSALS && nowMs < untilMs;
  }

  add(batchId: string, untilMs: number): void {
    this.#ofBatch.set(batchId, { count: (this.#ofBatch.get(batchId)?.count ?? 0) + 1, untilMs });
  }

  /** None of its lines can run here until then. */
  pause(batchId: string, untilMs: number): void {
    this.#ofBatch.set(batchId, { count: MAX_REFUSALS, untilMs });
  }

  forget(batchId: string): void {
    this.#ofBatch.delete(batchId);
  }

  keepOnly(batches: readonly Pick<OpenBatch, "id">[]): void {
    const kept = new Set(batches.map(({ id }) => id));
    for (const id of this.#ofBatch.keys()) if (!kept.has(id)) this.#ofBatch.delete(id);
  }
}
