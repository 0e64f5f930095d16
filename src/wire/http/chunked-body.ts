import { malformed } from "./failure.ts";

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
/** The longest line with a chunk's size, extensions included. */
const MAX_SIZE_LINE = 4096;
const MAX_TRAILERS = 64 * 1024;
const MAX_CHUNK = 2 ** 48;
/** Larger sizes are rare and take the slower path. */
const MAX_PLAIN_DIGITS = 8;

type State =
  | "size"
  | "extension"
  | "size end"
  | "data"
  | "data return"
  | "data end"
  | "trailers"
  | "trailer line"
  | "trailer end"
  | "last end";

interface ExcessListener {
  /** This many bytes came after the end of the body. */
  excess(count: number): void;
}

/** Removes the chunked framing. Trailers are read and discarded, since nothing uses them. */
export class ChunkedBody {
  done = false;
  #state: State = "size";
  /** Bytes of the chunk that have not arrived; while the size is read, the size so far. */
  #left = 0;
  #digits = 0;
  #line = 0;
  #trailers = 0;
  readonly #owner: ExcessListener;

  constructor(owner: ExcessListener) {
    this.#owner = owner;
  }

  /** Returns the content of one read. It is compacted in place, so the caller must not use `bytes` afterwards. */
  push(bytes: Uint8Array): Uint8Array {
    let start = -1;
    let end = 0;
    let at = 0;
    const { length } = bytes;
    while (at < length && !this.done) {
      if (this.#state !== "data") {
        const data = this.#plainFrame(bytes, at);
        if (data >= 0) at = data;
        else this.#step(bytes[at++] ?? 0);
        continue;
      }
      const taken = Math.min(this.#left, length - at);
      if (start < 0) start = end = at;
      else bytes.copyWithin(end, at, at + taken);
      end += taken;
      at += taken;
      this.#left -= taken;
      if (this.#left === 0) this.#state = "data return";
    }
    if (at < length) this.#owner.excess(length - at);
    return bytes.subarray(Math.max(start, 0), end);
  }

  /**
   * Reads the frame between two chunks at once if all of it is here and it has no extension. Returns the offset of the next
   * chunk's data; on -1, read byte by byte.
   */
  #plainFrame(bytes: Uint8Array, from: number): number {
    if (this.#state !== "data return" || bytes[from] !== CR || bytes[from + 1] !== LF) return -1;
    let size = 0;
    for (let at = from + 2; at < from + 2 + MAX_PLAIN_DIGITS; at++) {
      const byte = bytes[at] ?? CR;
      const digit = digitOf(byte);
      if (digit >= 0) size = size * 16 + digit;
      else if (size === 0 || byte !== CR || bytes[at + 1] !== LF) return -1;
      else {
        this.#left = size;
        this.#state = "data";
        return at + 2;
      }
    }
    return -1;
  }

  /** Reads one byte of a frame. */
  #step(byte: number): void {
    switch (this.#state) {
      case "size":
        this.#size(byte);
        break;
      case "extension":
        if (byte === LF || ++this.#line > MAX_SIZE_LINE) throw malformed("a chunk size line is malformed");
        if (byte === CR) this.#state = "size end";
        break;
      case "size end":
        expect(byte, LF);
        this.#state = this.#left === 0 ? "trailers" : "data";
        break;
      case "data return":
        expect(byte, CR);
        this.#state = "data end";
        break;
      case "data end":
        expect(byte, LF);
        this.#state = "size";
        this.#digits = 0;
        this.#line = 0;
        break;
      case "trailers":
        this.#trailer(byte === CR ? "last end" : "trailer line", byte);
        break;
      case "trailer line":
        this.#trailer(byte === CR ? "trailer end" : "trailer line", byte);
        break;
      case "trailer end":
        expect(byte, LF);
        this.#state = "trailers";
        break;
      default:
        expect(byte, LF);
        this.done = true;
    }
  }

  #size(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      this.#left = this.#left * 16 + digit;
      if (++this.#digits > MAX_SIZE_LINE || this.#left > MAX_CHUNK) throw malformed("a chunk size is too large");
      return;
    }
    if (this.#digits === 0 || (byte !== CR && byte !== SEMICOLON && byte !== SPACE && byte !== TAB))
      throw malformed("a chunk size is missing");
    this.#state = byte === CR ? "size end" : "extension";
  }

  #trailer(next: State, byte: number): void {
    if (byte === LF || ++this.#trailers > MAX_TRAILERS) throw malformed("its trailers are malformed");
    this.#state = next;
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw malformed("a chunk does not match its size");
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
