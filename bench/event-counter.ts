import { DONE } from "./bodies.ts";

const NEWLINE = 10;
const COLON = 58;

/** Counts the events of a stream as its chunks come, wherever they are cut, and keeps the end to look at. */
export class EventCounter {
  events = 0;
  #atStart = true;
  #comment = false;
  #afterNewline = false;
  #tail = Buffer.alloc(0);
  readonly #ending: string;

  /** `ending`: how the last event of a whole stream ends. */
  constructor(ending = DONE) {
    this.#ending = ending;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      // A block that begins with a colon is a comment, such as a keep-alive, and no event.
      if (this.#atStart) this.#comment = byte === COLON;
      this.#atStart = byte === NEWLINE && this.#afterNewline;
      if (this.#atStart && !this.#comment) this.events += 1;
      this.#afterNewline = byte === NEWLINE && !this.#atStart;
    }
    const { length } = this.#ending;
    const tail = chunk.length >= length ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tail = Buffer.from(tail.subarray(-length));
  }

  get done(): boolean {
    return this.#tail.toString("latin1") === this.#ending;
  }
}
