import type { ByteBuffer } from "../base/byte-buffer.ts";
import type { Tap, TapProgress } from "../dialects/dialect.ts";
import type { Framing } from "../providers/provider.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import type { ChunkTaker, HttpAnswer } from "../wire/http/exchange.ts";
import { EventSplitter } from "../wire/sse.ts";
import type { Attempt } from "./attempt.ts";

/** How long an upstream may take to close after its last event before the connection is given up. */
const RELEASE_MS = 1000;

/** What a stream holds back below this is not counted against the memory of all calls. */
const COUNTED_FROM = 256 * 1024;

/** An upstream's stream on its way through the tap. */
export class EventReader {
  readonly #attempt: Attempt;
  readonly #tap: Tap;
  readonly #answer: HttpAnswer;
  readonly #splitter: EventSplitter | AwsEventSplitter;
  #closed = false;
  #tapEnded = false;
  #counts = false;

  constructor(attempt: Attempt, answer: HttpAnswer, tap: Tap, framing: Framing) {
    this.#attempt = attempt;
    this.#tap = tap;
    this.#answer = answer;
    this.#splitter = framing === "sse" ? new EventSplitter() : new AwsEventSplitter();
    attempt.follow(() => tap.generatedCharacters + (tap.contentSeen ? 1 : 0));
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#answer.read();
  }

  /** Has each chunk taken until the taker says no: then true. False at the end of the bytes. */
  readWhile(taker: ChunkTaker): boolean | Promise<boolean> {
    return this.#answer.readWhile(taker);
  }

  /** Renders what the client gets for a chunk. `heldBytes`: what is held of those before it. */
  take(chunk: Uint8Array, output: ByteBuffer, heldBytes = 0): TapProgress {
    this.#attempt.hear(chunk.length);
    const holds = heldBytes + this.#splitter.waiting + chunk.length;
    // Nearly every event comes whole: only the large ones that do not are worth counting (S23).
    if (holds >= COUNTED_FROM || this.#counts) {
      this.#counts = holds >= COUNTED_FROM;
      this.#attempt.hold(this.#counts ? holds : 0);
    }
    const events = this.#splitter.pushBytes(chunk);
    return events.length > 0 ? this.#tap.push(events, output) : this.#tap;
  }

  /** The upstream's bytes have ended: what they left without an end of its own may still say something. */
  takeRest(output: ByteBuffer): TapProgress {
    this.#attempt.hear();
    this.#closed = true;
    return this.end(output);
  }

  /** Nothing more is read: renders what is still owed to the client. */
  end(output: ByteBuffer): TapProgress {
    if (this.#tapEnded) return this.#tap;
    this.#tapEnded = true;
    return this.#tap.end(this.#splitter.end(), output);
  }

  /** The answer is whole: lets the upstream's last bytes come in, so that its connection can serve another call. */
  release(): void {
    if (this.#closed) {
      this.#attempt.finish();
      return;
    }
    this.#attempt.expectEnd(RELEASE_MS);
    this.#answer.read().then(
      (more) => (more ? this.#attempt.close() : this.#attempt.finish()),
      () => this.#attempt.close(),
    );
  }
}
