import type { HostStream } from "./hosts/host-streams.ts";

/** The controller that Bun passes to a stream of type "direct". */
export interface StreamSink {
  write(bytes: Uint8Array): unknown;
  flush(): unknown;
}

interface PacedStream {
  sink: StreamSink;
  stream: HostStream;
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
  join(sink: StreamSink, stream: HostStream, left: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slot = this.#slots[this.#joined % this.#periodMs];
    const joined = { sink, stream, sent: 0, end: resolve };
    this.#joined += 1;
    slot?.add(joined);
    left.addEventListener("abort", () => {
      slot?.delete(joined);
      resolve();
    });
    return promise;
  }

  /** Ends every stream properly, and returns the total number of content chunks sent. */
  finish(): number {
    clearInterval(this.#timer);
    for (const slot of this.#slots) {
      for (const { sink, stream, sent, end } of slot) {
        sink.write(stream.endingAfter(sent));
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
      for (const paced of this.#slots[this.#slotsPlayed % this.#periodMs] ?? []) this.#send(paced);
    }
  }

  #send(paced: PacedStream): void {
    paced.sink.write(paced.stream.chunkAt(paced.sent));
    paced.sink.flush();
    paced.sent += 1;
    this.#contentChunks += 1;
  }
}
