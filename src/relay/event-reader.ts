import type { Tap } from "../dialects/dialect.ts";
import type { Framing } from "../providers/provider.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import type { HttpAnswer } from "../wire/http/exchange.ts";
import { EventSplitter } from "../wire/sse.ts";
import type { Attempt } from "./attempt.ts";
import type { StreamText } from "./stream-text.ts";

/** How long an upstream may take to close after its last event before the connection is given up. */
const RELEASE_MS = 1000;

/** An upstream's stream on its way through the tap. */
export class EventReader {
  readonly #attempt: Attempt;
  readonly #tap: Tap;
  readonly #answer: HttpAnswer;
  readonly #splitter: EventSplitter | AwsEventSplitter;
  #ended = false;

  constructor(attempt: Attempt, answer: HttpAnswer, tap: Tap, framing: Framing) {
    this.#attempt = attempt;
    this.#tap = tap;
    this.#answer = answer;
    this.#splitter = framing === "sse" ? new EventSplitter() : new AwsEventSplitter();
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#answer.read();
  }

  /** Hands on what the client gets for each piece until `use` says no: then true. False at the end of the bytes. */
  readWhile(use: (text: StreamText) => boolean): Promise<boolean> {
    return this.#answer.readWhile((piece) => use(this.take(piece) ?? ""));
  }

  /** What the client gets for a piece; undefined at the end of the upstream's bytes. */
  take(piece: Uint8Array | undefined): StreamText | undefined {
    this.#attempt.hear();
    if (piece) {
      if (this.#tap.pushBytes && this.#splitter instanceof EventSplitter) {
        const events = this.#splitter.pushBytes(piece);
        return events.length === 0 ? "" : this.#tap.pushBytes(events);
      }
      const events = this.#splitter.push(piece);
      return events === "" ? "" : this.#tap.push(events);
    }
    this.#ended = true;
    const rest = this.#splitter.end();
    return this.#tap.state === "open" ? this.#tap.pushLast(rest) : undefined;
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
