import type { Tap } from "../dialects/dialect.ts";
import { EventSplitter } from "../wire/sse.ts";
import type { Attempt } from "./attempt.ts";

/** How long an upstream may take to close after its last event before the connection is given up. */
const RELEASE_MS = 1000;

const readerOf = (body: ReadableStream<Uint8Array>) => body.getReader();
type Reader = ReturnType<typeof readerOf>;
type Piece = Awaited<ReturnType<Reader["read"]>>;

/** An upstream's stream on its way through the tap. Waiting and working are apart, so that a piece costs one wait. */
export class EventReader {
  readonly #attempt: Attempt;
  readonly #tap: Tap;
  readonly #reader: Reader;
  readonly #splitter = new EventSplitter();
  #ended = false;

  constructor(attempt: Attempt, body: ReadableStream<Uint8Array>, tap: Tap) {
    this.#attempt = attempt;
    this.#tap = tap;
    this.#reader = readerOf(body);
  }

  read(): Promise<Piece> {
    return this.#reader.read();
  }

  /** What the client gets for a piece; undefined at the end of the upstream's bytes. */
  take({ value, done }: Piece): string | undefined {
    this.#attempt.hear();
    if (!done) {
      const events = this.#splitter.push(value);
      return events === "" ? "" : this.#tap.push(events);
    }
    this.#ended = true;
    const rest = this.#splitter.end();
    return this.#tap.state === "open" && rest.trim() !== "" ? this.#tap.pushLast(rest) : undefined;
  }

  /** The answer is whole: lets the upstream's last bytes come in, so that its connection can serve another call. */
  release(): void {
    if (this.#ended) {
      this.#attempt.finish();
      return;
    }
    const giveUp = setTimeout(() => this.#attempt.close(), RELEASE_MS);
    this.#reader
      .read()
      .then(({ done }) => (done ? this.#attempt.finish() : this.#attempt.close()))
      .catch(() => this.#attempt.close())
      .finally(() => clearTimeout(giveUp));
  }
}
