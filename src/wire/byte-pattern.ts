const WORD = 4;

/** Bytes that are compared at a known offset, four at a time: this is done for every byte of a stream. */
export class BytePattern {
  readonly bytes: Buffer;
  readonly #words: Int32Array;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
    this.#words = new Int32Array(Math.floor(this.bytes.length / WORD));
    for (let word = 0; word < this.#words.length; word++) this.#words[word] = this.bytes.readInt32LE(word * WORD);
  }

  get length(): number {
    return this.bytes.length;
  }

  isAt(view: DataView, at: number): boolean {
    const { bytes } = this;
    const words = this.#words;
    if (at < 0 || at + bytes.length > view.byteLength) return false;
    let offset = at;
    for (let word = 0; word < words.length; word++) {
      if (view.getInt32(offset, true) !== words[word]) return false;
      offset += WORD;
    }
    for (let rest = words.length * WORD; rest < bytes.length; rest++) {
      if (view.getUint8(offset++) !== bytes[rest]) return false;
    }
    return true;
  }
}
