const FIRST_BYTES = 1024;
/** A room that has grown beyond this is not kept: a single event may be as large as an image. */
const KEPT_BYTES = 1024 * 1024;
const KEPT_ROOMS = 16;

const NONE = Buffer.alloc(0);

/** Room for bytes that grows as it is filled, and is used again. */
export class Scratch {
  bytes: Buffer = NONE;
  length = 0;

  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = NONE;
  }

  /** Makes sure that so many more fit. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length, FIRST_BYTES));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  putText(text: string): void {
    if (text === "") return;
    this.reserve(3 * text.length);
    this.length += this.bytes.write(text, this.length);
  }

  putBytes(from: Uint8Array): void {
    this.reserve(from.length);
    this.bytes.set(from, this.length);
    this.length += from.length;
  }

  /** What stands there between two places; for bytes that were reserved. */
  putPart(from: Buffer, start: number, end: number): void {
    from.copy(this.bytes, this.length, start, end);
    this.length += end - start;
  }

  /** Forgets the first bytes; the others move up. */
  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  /** Holds until the room changes. */
  taken(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

/**
 * Rooms for bytes that must be kept over a wait, such as an answer whose row is not yet committed. Memory of such sizes is
 * given back by the collector alone, and late; a room that is used again is warm.
 */
export class ScratchPool {
  readonly #free: Scratch[] = [];

  take(): Scratch {
    return this.#free.pop() ?? new Scratch();
  }

  /** Whoever gives a room back must have no view of it left. */
  giveBack(room: Scratch): void {
    room.clear();
    if (this.#free.length < KEPT_ROOMS) this.#free.push(room);
  }
}
