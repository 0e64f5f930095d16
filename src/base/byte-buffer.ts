const FIRST_BYTES = 1024;
/** A buffer that has grown beyond this is not kept: a single event may be as large as an image. */
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_BUFFERS = 16;

const ZERO = 0x30;
/** Of the largest whole number that is exact. */
const MAX_DIGITS = 16;

const NONE: Buffer<ArrayBuffer> = Buffer.alloc(0);

/** A growing, reusable buffer. */
export class ByteBuffer {
  bytes: Buffer<ArrayBuffer> = NONE;
  length = 0;

  clear(): void {
    this.length = 0;
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = NONE;
  }

  /** Makes sure that this many more bytes fit. */
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

  /** A whole number in decimal digits. */
  putNumber(value: number): void {
    this.reserve(MAX_DIGITS);
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      this.bytes[at] = ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.length += digits;
  }

  /** The bytes of another buffer between two offsets; the space for them was reserved. */
  putPart(from: Buffer, start: number, end: number): void {
    from.copy(this.bytes, this.length, start, end);
    this.length += end - start;
  }

  /** Drops the first bytes; the others move to the front. */
  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  /** A view of its content, valid until the buffer changes. */
  view(): Buffer<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }
}

/**
 * Buffers for bytes that must be kept over a wait, such as an answer whose row is not yet committed. Memory of such sizes is
 * only freed by the collector, and late; a reused buffer is warm.
 */
export class BufferPool {
  /** For bytes that are written in the same turn: shared by all calls, and empty between turns. */
  readonly shared = new ByteBuffer();
  readonly #free: ByteBuffer[] = [];

  take(): ByteBuffer {
    return this.#free.pop() ?? new ByteBuffer();
  }

  /** The caller must keep no view of a buffer that it returns. */
  giveBack(buffer: ByteBuffer): void {
    buffer.clear();
    if (this.#free.length < MAX_KEPT_BUFFERS) this.#free.push(buffer);
  }
}
