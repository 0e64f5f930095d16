import { DONE } from "./bodies.ts";

const NEWLINE = 10;

/** Counts the events of a stream as its pieces come, wherever they are cut, and keeps the end to look at. */
export class EventCounter {
  events = 0;
  #endedWithNewline = false;
  #tail = Buffer.alloc(0);

  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      const newline = piece[at] === NEWLINE;
      // The pair is spent at its second newline: three in a row are one event's end.
      if (newline && this.#endedWithNewline) this.events += 1;
      this.#endedWithNewline = newline && !this.#endedWithNewline;
    }
    const tail = piece.length >= DONE.length ? piece : Buffer.concat([this.#tail, piece]);
    this.#tail = Buffer.from(tail.subarray(-DONE.length));
  }

  get done(): boolean {
    return this.#tail.toString("latin1") === DONE;
  }
}
