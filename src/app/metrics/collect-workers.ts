import type { Cancel, Clock } from "../../base/clock.ts";
import type { Family } from "../../telemetry/family.ts";
import type { WorkerMetrics } from "./merge-workers.ts";

interface Collection {
  readonly workers: WorkerMetrics[];
  missing: number;
  done: () => void;
}

/** A scrape is answered after this time with what has arrived, because a worker may hang. */
const WAIT_MS = 2_000;

/** In the first process: collects the metrics of the workers. */
export class WorkerCollector {
  readonly #clock: Clock;
  readonly #collections = new Map<number, Collection>();
  #number = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `ask` is called for each worker with the number that its response must carry. */
  async collect(workers: number, ask: (number: number) => void): Promise<readonly WorkerMetrics[]> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<void>();
    const collection: Collection = { workers: [], missing: workers, done: resolve };
    this.#collections.set(number, collection);
    const cancel: Cancel = this.#clock.after(WAIT_MS, resolve);
    ask(number);
    await promise;
    cancel();
    this.#collections.delete(number);
    return collection.workers.toSorted((one, other) => Number(one.worker) - Number(other.worker));
  }

  answered(number: number, worker: string, families: readonly Family[]): void {
    const collection = this.#collections.get(number);
    if (collection === undefined) return;
    collection.workers.push({ worker, families });
    if (--collection.missing === 0) collection.done();
  }
}
