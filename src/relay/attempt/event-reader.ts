import type { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Clock } from "../../base/clock.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Tap, TapProgress } from "../../dialects/dialect.ts";
import type { Framing } from "../../providers/provider.ts";
import { AwsEventSplitter } from "../../wire/aws-event-stream.ts";
import type { ChunkTaker, HttpAnswer } from "../../wire/http/http-exchange.ts";
import { isBrokenText } from "../../wire/is-broken-text.ts";
import { EventSplitter, EventTooLargeError, nextEventEnd } from "../../wire/sse.ts";
import type { Attempt } from "./attempt.ts";
import { writesOnlyText } from "./writes-only-text.ts";

/** How long an upstream may take to close the connection after its last event. */
const RELEASE_MS = 1000;

/** Buffered output below this size is not counted against the memory of all calls. */
const COUNTED_FROM = 256 * 1024;

/** For a model that writes only text. Its last event may contain the whole response, and the request's instructions and tools. */
const MAX_TEXT_EVENT_BYTES = 8 * 1024 * 1024;
/** With images or sound in it. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/** Events of about this many bytes are rendered before the clock is read again. */
const SLICE_BYTES = 16 * 1024;
/** A stream that takes longer continues in the next turn of the event loop, after all others (S18). */
const TURN_MS = 5;
const NOTHING = new Uint8Array(0);

/** An upstream's stream on its way through the tap. */
export class EventReader {
  readonly #clock: Clock;
  /** Events that have arrived and are not rendered yet. */
  #behind: Uint8Array = NOTHING;
  readonly #attempt: Attempt;
  readonly #tap: Tap;
  readonly #answer: HttpAnswer;
  readonly #splitter: EventSplitter | AwsEventSplitter;
  #closed = false;
  #tapEnded = false;
  #counts = false;

  constructor(attempt: Attempt, answer: HttpAnswer, tap: Tap, framing: Framing, clock: Clock) {
    this.#clock = clock;
    this.#attempt = attempt;
    this.#tap = tap;
    this.#answer = answer;
    const limit = writesOnlyText(attempt.target.model) ? MAX_TEXT_EVENT_BYTES : MAX_EVENT_BYTES;
    this.#splitter = framing === "sse" ? new EventSplitter(limit) : new AwsEventSplitter(limit);
    attempt.follow(() => tap.generatedCharacters + (tap.contentSeen ? 1 : 0));
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#answer.read();
  }

  /** Passes chunks to the taker until it declines one: then true. False at the end of the bytes. */
  readWhile(taker: ChunkTaker): boolean | Promise<boolean> {
    return this.#answer.readWhile(taker);
  }

  /** Renders the output for a chunk. `heldBytes` counts the output that is still held. */
  take(chunk: Uint8Array, output: ByteBuffer, heldBytes = 0): TapProgress {
    this.#attempt.received(chunk.length);
    const holds = heldBytes + this.#splitter.waiting + chunk.length;
    // Nearly every event arrives whole. Only large ones that do not are worth counting (S23).
    if (holds >= COUNTED_FROM || this.#counts) {
      this.#counts = holds >= COUNTED_FROM;
      this.#attempt.hold(this.#counts ? holds : 0);
    }
    try {
      const events = this.#splitter.pushBytes(chunk);
      if (isBrokenText(events))
        throw new GatewayError("upstream_failed", "The provider sent an event that is not valid UTF-8.");
      if (events.length > SLICE_BYTES) return this.#render(events, output);
      return events.length > 0 ? this.#tap.push(events, output) : this.#tap;
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  /** Whether events wait for another turn, or for the tap. `takeMore` renders them after `ready`, and nothing else is read before. */
  get isBehind(): boolean {
    return this.#behind.length > 0 || this.#tap.pending !== undefined;
  }

  /** Resolves when `takeMore` may be called. */
  async ready(): Promise<void> {
    if (this.#tap.pending === undefined) return nextTurn();
    this.#attempt.pause();
    try {
      await this.#tap.pending;
    } finally {
      this.#attempt.resume();
    }
  }

  takeMore(output: ByteBuffer): TapProgress {
    try {
      if (this.#behind.length === 0) return this.#tap.push(NOTHING, output);
      return this.#render(this.#behind, output);
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #render(events: Uint8Array, output: ByteBuffer): TapProgress {
    const tap = this.#tap;
    const untilMs = this.#clock.nowMs() + TURN_MS;
    let at = 0;
    do {
      const end = nextEventEnd(events, at + SLICE_BYTES);
      tap.push(events.subarray(at, end), output);
      at = end;
    } while (
      at < events.length &&
      !tap.failure &&
      tap.state !== "ended" &&
      tap.pending === undefined &&
      this.#clock.nowMs() < untilMs
    );
    this.#behind = tap.failure || tap.state === "ended" ? NOTHING : events.subarray(at);
    return tap;
  }

  /** An event that is too large is the provider's failure. Output before it is kept. */
  #failed(thrown: unknown): TapProgress {
    const failure =
      thrown instanceof EventTooLargeError
        ? new GatewayError("upstream_failed", `The provider sent ${thrown.message}.`)
        : thrown;
    if (!(failure instanceof GatewayError)) throw thrown;
    this.#behind = NOTHING;
    return { state: this.#tap.state, failure };
  }

  /** The upstream's bytes have ended. An unterminated event at the end may still count. */
  takeRest(output: ByteBuffer): TapProgress {
    this.#attempt.received();
    this.#closed = true;
    return this.end(output);
  }

  /** Nothing more is read. Renders the rest of the output for the client. */
  end(output: ByteBuffer): TapProgress {
    if (this.#tapEnded) return this.#tap;
    this.#tapEnded = true;
    return this.#tap.end(this.#splitter.end(), output);
  }

  /** The response is complete. Reads the upstream's last bytes, so that its connection can serve another call. */
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
