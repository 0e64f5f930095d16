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

const FIRST_BYTES = 64 * 1024;
/** The maximum size of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Spans as the bytes of a request: as objects or strings they would outlive their call, and cost the collector of garbage more than all else (decision 0016). */
class Spans {
  calls = 0;
  #bytes: Buffer<ArrayBuffer>;
  #length = 0;

  constructor(bytes: Buffer<ArrayBuffer>, before: string) {
    this.#bytes = bytes;
    this.#put(before);
  }

  add(text: string): void {
    this.#put(this.calls === 0 ? text : `,${text}`);
    this.calls++;
  }

  end(after: string): SpanBatch {
    this.#put(after);
    return { body: this.#bytes.subarray(0, this.#length), calls: this.calls };
  }

  /** To be used again, once nothing reads it any more. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.#bytes;
  }

  #put(text: string): void {
    const needed = this.#length + text.length * MAX_BYTES_PER_CHARACTER;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#length += this.#bytes.write(text, this.#length);
  }
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
  #spare: Buffer<ArrayBuffer> | undefined;
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
      last = new Spans(this.#spare ?? Buffer.allocUnsafeSlow(FIRST_BYTES), this.#options.before);
      this.#spare = undefined;
      this.#queue.push(last);
    }
    last.add(spans);
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
    this.#sending = this.#options.send(next.end(this.#options.after)).then((isTaken) => {
      // A request that was given up may still be on its way.
      if (isTaken) this.#spare = next.bytes;
      this.#sending = undefined;
      if (this.#queued >= this.#maxBatch) this.#send();
    });
  }
}
