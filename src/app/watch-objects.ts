import type { Cancel, Clock } from "../base/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { countWaitingLines, type WaitingLines } from "../storage/tables/batch-lines.ts";
import { type ObjectSum, sumObjects } from "../storage/tables/objects.ts";

interface ObjectWatchOptions {
  storage: Storage;
  clock: Clock;
  onProblem: (error: unknown) => void;
}

export interface CountedObjects {
  sums: readonly ObjectSum[];
  waiting: WaitingLines;
}

const EVERY_MS = 30_000;

/** Counts the objects of all projects and the waiting lines of batches regularly, so that no scrape waits for the storage. */
export class ObjectWatch {
  readonly #options: ObjectWatchOptions;
  #looking: Promise<void> | undefined;
  /** Undefined until the first look. */
  counted: CountedObjects | undefined;

  constructor(options: ObjectWatchOptions) {
    this.#options = options;
  }

  start(): Cancel {
    void this.look();
    return this.#options.clock.every(EVERY_MS, () => void this.look(), { background: true });
  }

  /** Never rejects; one look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { storage, onProblem } = this.#options;
    try {
      this.counted = { sums: await sumObjects(storage), waiting: await countWaitingLines(storage) };
    } catch (error) {
      onProblem(error);
    }
  }
}
