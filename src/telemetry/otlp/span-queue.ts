import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Cancel, Clock } from "../../base/clock.ts";

/** A request that can be sent. */
export interface SpanBatch {
  body: Uint8Array<ArrayBuffer>;
  calls: number;
}

interface SpanQueueOptions {
  clock: Clock;
  /** What stands around the spans. */
  before: string;
  after: string;
  /** Sends it; resolves with whether it was taken, and never rejects. */
  send: (batch: SpanBatch) => Promise<boolean>;
  maxQueued?: number;
  maxBatch?: number;
  everyMs?: number;
}

/** Spans as the bytes of a request: as objects or strings they would outlive their call, and cost the collector of garbage more than all else (decision 0016). */
interface Spans {
  readonly bytes: ByteBuffer;
  calls: number;
}

/**
 * Calls that wait to be exported. One request at a time; whatever the collector does, a call only puts itself here, and where
 * there is no room the oldest go.
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
  /** Calls that there was no room for. */
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

  /** Resolves when all that waits was sent or given up. */
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
