import { CONTENT_CHUNKS, STREAM_ENDING } from "./bodies.ts";

/** What Bun hands to a stream of type "direct". */
export interface StreamSink {
  write(bytes: Uint8Array): unknown;
  flush(): unknown;
}

interface PacedStream {
  sink: StreamSink;
  sent: number;
  end: () => void;
}

/**
 * Sends one chunk to each of its streams in every period. The streams are spread over the milliseconds of the period, so
 * that a receiver sees an even trickle, as from many independent hosts, and not all of them at once.
 */
export class PacedStreams {
  readonly #periodMs: number;
  readonly #slots: Set<PacedStream>[];
  readonly #startedAtMs = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  #joined = 0;
  #slotsPlayed = 0;
  #contentChunks = 0;

  constructor(chunksPerSecond: number) {
    this.#periodMs = Math.round(1000 / chunksPerSecond);
    this.#slots = Array.from({ length: this.#periodMs }, () => new Set());
    this.#timer = setInterval(() => this.#play(), 1);
  }

  /** Resolves when the stream has been ended, or left. */
  join(sink: StreamSink, left: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slot = this.#slots[this.#joined % this.#periodMs];
    const stream = { sink, sent: this.#joined, end: resolve };
    this.#joined += 1;
    slot?.add(stream);
    left.addEventListener("abort", () => {
      slot?.delete(stream);
      resolve();
    });
    return promise;
  }

  /** Ends every stream as a host ends an answer, and tells how many content chunks were sent in all. */
  finish(): number {
    clearInterval(this.#timer);
    for (const slot of this.#slots) {
      for (const { sink, end } of slot) {
        sink.write(STREAM_ENDING);
        end();
      }
      slot.clear();
    }
    return this.#contentChunks;
  }

  #play(): void {
    const due = Math.floor(performance.now() - this.#startedAtMs);
    // After a long pause of the machine the missed chunks are left out rather than sent in a heap.
    this.#slotsPlayed = Math.max(this.#slotsPlayed, due - this.#periodMs);
    for (; this.#slotsPlayed < due; this.#slotsPlayed++) {
      for (const stream of this.#slots[this.#slotsPlayed % this.#periodMs] ?? []) this.#send(stream);
    }
  }

  #send(stream: PacedStream): void {
    stream.sent += 1;
    this.#contentChunks += 1;
    stream.sink.write(CONTENT_CHUNKS[stream.sent % CONTENT_CHUNKS.length] ?? STREAM_ENDING);
    stream.sink.flush();
  }
}
