const FIRST_BYTES = 64 * 1024;
/** More than this is not kept for the next user: a single event may be as large as a picture. */
const KEPT_BYTES = 1024 * 1024;

/**
 * Room for bytes that are written or copied within the turn in which they were put here: one for all who render, so that
 * nobody needs room of his own. What `taken` gives holds until the next `clear`.
 */
export class Scratch {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  length = 0;

  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Makes sure that so many more fit. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  putText(text: string): void {
    this.reserve(3 * text.length);
    this.length += this.bytes.write(text, this.length);
  }

  /** Of bytes that were reserved. */
  put(from: Buffer, start: number, end: number): void {
    from.copy(this.bytes, this.length, start, end);
    this.length += end - start;
  }

  taken(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}
