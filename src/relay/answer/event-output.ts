import { EventSplitter, type SseFrame, takeFrames } from "../../wire/sse.ts";
import type { DirectController } from "./client-output.ts";

/** An event of a streamed response. */
export type StreamedEvent = Pick<SseFrame, "event" | "data">;

interface EventTaker {
  /** Takes one event. Not called for comments, which only keep an HTTP connection alive. */
  take(event: StreamedEvent): void;
  /** Calls `write`, which takes several events. */
  together(write: () => void): void;
  /** Resolves when the client may be sent more, or is gone. */
  read(): Promise<void>;
}

/** The output of a streamed response that is sent event by event, over something else than HTTP. */
export class EventOutput implements DirectController {
  readonly #taker: EventTaker;
  readonly #splitter = new EventSplitter();

  constructor(taker: EventTaker) {
    this.#taker = taker;
  }

  write(text: string | Uint8Array): number {
    const events = this.#splitter.push(typeof text === "string" ? Buffer.from(text) : text);
    if (events === "") return text.length;
    this.#taker.together(() =>
      takeFrames(events, (event) => {
        if (event.data !== undefined) this.#taker.take(event);
        return true;
      }),
    );
    return text.length;
  }

  flush(wait = false): number | Promise<number> {
    return wait ? this.#taker.read().then(() => 0) : 0;
  }

  close(): void {}
}
