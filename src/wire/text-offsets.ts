/** The number of characters between two marks. */
const STRIDE = 1024;

/**
 * Converts offsets between UTF-16 characters and UTF-8 bytes. The text is scanned once, however many offsets are converted: a
 * response may have thousands of citations and megabytes of text (S18).
 */
export class TextOffsets {
  readonly #text: string;
  /** Bytes before each multiple of `STRIDE` characters. */
  readonly #marks: number[] = [];
  readonly #bytes: number;

  constructor(text: string) {
    this.#text = text;
    let bytes = 0;
    for (let at = 0; at < text.length; at += STRIDE) {
      this.#marks.push(bytes);
      bytes += this.#bytesBetween(at, Math.min(at + STRIDE, text.length));
    }
    this.#bytes = bytes;
  }

  /** Bytes before a character. */
  bytesAt(character: number): number {
    const mark = Math.floor(character / STRIDE);
    const before = this.#marks[mark];
    return before === undefined ? this.#bytes : before + this.#bytesBetween(mark * STRIDE, character);
  }

  /** Characters before a byte; undefined inside a character and after the text. */
  charactersAt(byte: number): number | undefined {
    if (byte >= this.#bytes) return byte === this.#bytes ? this.#text.length : undefined;
    let mark = this.#marks.length - 1;
    for (let low = 0; low < mark; ) {
      const middle = Math.ceil((low + mark) / 2);
      if ((this.#marks[middle] ?? 0) <= byte) low = middle;
      else mark = middle - 1;
    }
    let bytes = this.#marks[mark] ?? 0;
    let at = mark * STRIDE;
    for (; bytes < byte; at++) bytes += this.#bytesOf(at);
    if (bytes !== byte) return undefined;
    return this.#isSecondHalf(at) ? at + 1 : at;
  }

  #bytesBetween(from: number, to: number): number {
    let bytes = 0;
    for (let at = from; at < to; at++) bytes += this.#bytesOf(at);
    return bytes;
  }

  /** The first half of a pair counts for both. An unpaired half is written as three bytes. */
  #bytesOf(at: number): number {
    const code = this.#text.charCodeAt(at);
    if (code < 0x80) return 1;
    if (code < 0x800) return 2;
    if (this.#isSecondHalf(at)) return 0;
    return isFirst(code) && isSecond(this.#text.charCodeAt(at + 1)) ? 4 : 3;
  }

  #isSecondHalf(at: number): boolean {
    return isSecond(this.#text.charCodeAt(at)) && at > 0 && isFirst(this.#text.charCodeAt(at - 1));
  }
}

const isFirst = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isSecond = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
