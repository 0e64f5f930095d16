const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const COLON = 58;
/** As long as the last event of any protocol. */
const END_BYTES = 8 * 1024;

/** Counts the events of a stream as its chunks come, wherever they are cut, and keeps the end to look at. */
export class EventCounter {
  events = 0;
  #atStart = true;
  #comment = false;
  #afterNewline = false;
  /** The last chunks, together no shorter than the end that is looked at. */
  #last: Uint8Array[] = [];
  #lastBytes = 0;
  readonly #ending: string | RegExp;

  /** `ending`: how the last event of a whole stream ends, or what is found in it. */
  constructor(ending: string | RegExp) {
    this.#ending = ending;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === CARRIAGE_RETURN) continue;
      // A block that starts with a colon is a comment, such as a keep-alive, not an event.
      if (this.#atStart) this.#comment = byte === COLON;
      this.#atStart = byte === NEWLINE && this.#afterNewline;
      if (this.#atStart && !this.#comment) this.events += 1;
      this.#afterNewline = byte === NEWLINE && !this.#atStart;
    }
    this.#last.push(chunk);
    this.#lastBytes += chunk.length;
    for (let [first] = this.#last; first && this.#lastBytes - first.length >= END_BYTES; [first] = this.#last) {
      this.#last.shift();
      this.#lastBytes -= first.length;
    }
  }

  /** The end of what has come. */
  get end(): string {
    return Buffer.concat(this.#last).toString();
  }

  get done(): boolean {
    const { end } = this;
    return typeof this.#ending === "string" ? end.endsWith(this.#ending) : this.#ending.test(end);
  }
}
