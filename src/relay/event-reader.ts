import type { Tap } from "../dialects/dialect.ts";
import type { Framing } from "../providers/provider.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import type { HttpAnswer } from "../wire/http/exchange.ts";
import type { Scratch } from "../wire/scratch.ts";
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
  #ended = false;
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

  /** Has each piece used until `use` says no: then true. False at the end of the bytes. */
  readWhile(use: (piece: Uint8Array) => boolean): Promise<boolean> {
    return this.#answer.readWhile(use);
  }

  /** Puts into the room what the client gets for a piece. `heldBytes`: what is kept of those before it. */
  take(piece: Uint8Array, room: Scratch, heldBytes = 0): void {
    this.#attempt.hear(piece.length);
    const tap = this.#tap;
    const holds = heldBytes + this.#splitter.waiting + piece.length;
    // Nearly every event comes whole: only the large ones that do not are worth counting (S23).
    if (holds >= COUNTED_FROM || this.#counts) {
      this.#counts = holds >= COUNTED_FROM;
      this.#attempt.hold(this.#counts ? holds : 0);
    }
    if (tap.pushBytes && this.#splitter instanceof EventSplitter) {
      const events = this.#splitter.pushBytes(piece);
      if (events.length > 0) tap.pushBytes(events, room);
    } else {
      const events = this.#splitter.push(piece);
      if (events !== "") room.putText(tap.push(events));
    }
  }

  /** The upstream's bytes have ended; what they left without an end of its own may still say something. False where not. */
  takeLast(room: Scratch): boolean {
    this.#attempt.hear();
    this.#ended = true;
    const rest = this.#splitter.end();
    const text = this.#tap.state === "open" ? this.#tap.pushLast(rest) : undefined;
    room.putText(text ?? "");
    return text !== undefined;
  }

  /** The answer is whole: lets the upstream's last bytes come in, so that its connection can serve another call. */
  release(): void {
    if (this.#ended) {
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
