import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Cancel, Clock } from "../../base/clock.ts";

/** A request that can be sent. */
export interface SpanBatch {
  body: Uint8Array<ArrayBuffer>;
  calls: number;
}

interface SpanQueueOptions {
  clock: Clock;
  /** The envelope of the spans. */
  before: string;
  after: string;
  /** Sends it; resolves with whether it was accepted, and never rejects. */
  send: (batch: SpanBatch) => Promise<boolean>;
  maxQueued?: number;
  maxBatch?: number;
  everyMs?: number;
}

/**
 * Spans as the bytes of a request: objects or strings would outlive their call and cost the garbage collector more than
 * everything else (decision 0016).
 */
interface Spans {
  readonly bytes: ByteBuffer;
  calls: number;
}

/**
 * Calls waiting to be exported, one request at a time. Whatever the collector does, a call is only added here; if the queue is
 * full, the oldest are dropped.
 */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #maxQueued: number;
  readonly #maxBatch: number;
  /** Those before the last are full. */
  #queue: Spans[] = [];
  #queued = 0;
  #spare: ByteBuffer | undefined;
  #sending: Promise<void> | undefined;
  /** Calls that were dropped. */
  dropped = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueued ?? 2_048;
    this.#maxBatch = options.maxBatch ?? 256;
  }

  /** `spans`: as JSON, separated by commas. */
  add(spans: string): void {
    if (this.#queued >= this.#maxQueued) this.dropped += this.#next()?.calls ?? 0;
    let last = this.#queue.at(-1);
    if (last === undefined || last.calls >= this.#maxBatch) {
      last = this.#begin();
      this.#queue.push(last);
    }
    last.bytes.putText(last.calls === 0 ? spans : `,${spans}`);
    last.calls++;
    this.#queued++;
    if (this.#queued >= this.#maxBatch) this.#send();
  }

  start(): Cancel {
    const { clock, everyMs = 5_000 } = this.#options;
    return clock.every(everyMs, () => this.#send(), { background: true });
  }

  /** Resolves when everything in the queue was sent or given up. */
  async flush(): Promise<void> {
    while (this.#queued > 0 || this.#sending !== undefined) {
      this.#send();
      await this.#sending;
    }
  }

  #begin(): Spans {
    const bytes = this.#spare ?? new ByteBuffer();
    this.#spare = undefined;
    bytes.length = 0;
    bytes.putText(this.#options.before);
    return { bytes, calls: 0 };
  }

  /** Takes the oldest. */
  #next(): Spans | undefined {
    const next = this.#queue.shift();
    this.#queued -= next?.calls ?? 0;
    return next;
  }

  #send(): void {
    if (this.#sending !== undefined) return;
    const next = this.#next();
    if (next === undefined) return;
    const { bytes, calls } = next;
    bytes.putText(this.#options.after);
    this.#sending = this.#options.send({ body: bytes.view(), calls }).then((isTaken) => {
      // A request that was given up may still be on its way.
      if (isTaken) this.#spare = bytes;
      this.#sending = undefined;
      if (this.#queued >= this.#maxBatch) this.#send();
    });
  }
}
