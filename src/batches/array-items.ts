import { GatewayError } from "../canon/error.ts";

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const MAX_KEY_BYTES = 200;
/** In the object, and in its array. */
const [OBJECT_DEPTH, ARRAY_DEPTH] = [1, 2];

/**
 * The items of an array that is a field of a JSON object, as bytes, while the object arrives: the whole may be larger than memory
 * allows. Each item must be parsed by the caller, who then knows that it is JSON; the other fields are skipped.
 */
export async function* arrayItems(
  content: AsyncIterable<Uint8Array>,
  field: string,
  maxItemBytes: number,
): AsyncGenerator<Buffer, void, void> {
  const scanner = new ItemScanner(field, maxItemBytes);
  for await (const chunk of content) yield* scanner.scan(chunk);
  scanner.end();
}

class ItemScanner {
  readonly #field: string;
  readonly #maxItemBytes: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEnded = false;
  /** In the object: the name of a field comes next, or is being read. */
  #isKey = false;
  #key: number[] = [];
  /** The array is being read, or has been. */
  #array: "ahead" | "open" | "read" = "ahead";
  /** The parts of the current item in earlier chunks, and their size. */
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(field: string, maxItemBytes: number) {
    this.#field = field;
    this.#maxItemBytes = maxItemBytes;
  }

  scan(chunk: Uint8Array): Buffer[] {
    const found: Buffer[] = [];
    /** Where the current item begins in this chunk. */
    let from = this.#array === "open" ? 0 : -1;
    const endItem = (at: number) => {
      const item = this.#take(chunk.subarray(from, at));
      if (item !== undefined) found.push(item);
      from = at + 1;
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (this.#isInString) this.#inString(byte);
      else if (byte === QUOTE) {
        if (this.#depth === 0) throw notAnObject();
        this.#isInString = true;
        if (this.#isKey) this.#key = [];
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#open(byte)) from = at + 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#array === "open" && this.#depth === ARRAY_DEPTH) {
          endItem(at);
          from = -1;
          this.#array = "read";
        }
        if (--this.#depth < 0) throw notAnObject();
        this.#hasEnded = this.#depth === 0;
      } else if (byte === COMMA) {
        if (this.#array === "open" && this.#depth === ARRAY_DEPTH) endItem(at);
        if (this.#depth === OBJECT_DEPTH) this.#isKey = true;
      } else if (byte === COLON) {
        if (this.#depth === OBJECT_DEPTH) this.#isKey = false;
      } else if (this.#depth === 0 && byte > 0x20) throw notAnObject();
    }
    if (from >= 0) this.#keep(chunk.subarray(from));
    return found;
  }

  end(): void {
    if (!this.#hasEnded) throw notAnObject();
    if (this.#array !== "read") {
      throw new GatewayError("invalid_request", `${this.#field} must be an array.`, { path: this.#field });
    }
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInString = false;
      return;
    }
    if (this.#isKey && this.#depth === OBJECT_DEPTH && this.#key.length < MAX_KEY_BYTES) this.#key.push(byte);
  }

  /** Whether the array begins here. */
  #open(byte: number): boolean {
    if (this.#depth === 0 && (byte !== OPEN_BRACE || this.#hasEnded)) throw notAnObject();
    this.#depth++;
    if (this.#depth === OBJECT_DEPTH) this.#isKey = true;
    const isArray = this.#depth === ARRAY_DEPTH && byte === OPEN_BRACKET && this.#keyText() === this.#field;
    if (!isArray || this.#array === "open") return false;
    // Readers of the first and of the last would see different requests (S15).
    if (this.#array === "read") throw new GatewayError("invalid_request", `Duplicate field ${this.#field}.`);
    this.#array = "open";
    return true;
  }

  #keyText(): string {
    return Buffer.from(this.#key).toString();
  }

  #keep(part: Uint8Array): void {
    this.#size += part.length;
    if (this.#size > this.#maxItemBytes) {
      throw new GatewayError("too_large", `An item of ${this.#field} is larger than ${this.#maxItemBytes} bytes.`);
    }
    // A copy: the runtime may use the chunk's memory again.
    this.#parts.push(Uint8Array.from(part));
  }

  /** The item that ends with this part; undefined after the last comma, or in an empty array. */
  #take(part: Uint8Array): Buffer | undefined {
    this.#keep(part);
    const item = Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    return item.length < 64 && item.toString().trim() === "" ? undefined : item;
  }
}

const notAnObject = (): GatewayError => new GatewayError("invalid_request", "The body is not a valid JSON object.");
