import type { Cancel, Clock } from "../../base/clock.ts";
import type { TracedCall } from "../tracing.ts";

interface SpanQueueOptions {
  clock: Clock;
  /** Sends these; resolves when they are delivered or given up, and never rejects. */
  send: (calls: readonly TracedCall[]) => Promise<void>;
  maxQueued?: number;
  maxBatch?: number;
  everyMs?: number;
}

/**
 * Calls that wait to be exported. One request at a time; whatever the collector does, a call only puts itself here, and where
 * there is no room the oldest goes.
 */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #maxQueued: number;
  readonly #maxBatch: number;
  #queue: TracedCall[] = [];
  #sending: Promise<void> | undefined;
  /** Calls that there was no room for. */
  dropped = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueued ?? 2_048;
    this.#maxBatch = options.maxBatch ?? 256;
  }

  add(call: TracedCall): void {
    if (this.#queue.length >= this.#maxQueued) {
      this.#queue.shift();
      this.dropped++;
    }
    this.#queue.push(call);
    if (this.#queue.length >= this.#maxBatch) this.#send();
  }

  start(): Cancel {
    const { clock, everyMs = 5_000 } = this.#options;
    return clock.every(everyMs, () => this.#send(), { background: true });
  }

  /** Resolves when all that waits was sent or given up. */
  async flush(): Promise<void> {
    while (this.#queue.length > 0 || this.#sending !== undefined) {
      this.#send();
      await this.#sending;
    }
  }

  #send(): void {
    if (this.#sending !== undefined || this.#queue.length === 0) return;
    const batch = this.#queue.splice(0, this.#maxBatch);
    this.#sending = this.#options.send(batch).finally(() => {
      this.#sending = undefined;
      if (this.#queue.length >= this.#maxBatch) this.#send();
    });
  }
}
