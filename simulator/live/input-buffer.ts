/** How the audio of a buffer is written. */
interface BufferedFormat {
  rate: number;
  bytesPerSample: number;
  decode: (bytes: Uint8Array) => Int16Array;
}

/** What was appended, as samples and as the bytes that were sent. */
interface Taken {
  samples: Int16Array;
  bytes: Uint8Array;
}

/** Ten minutes: a session that commits nothing for so long is not talking. */
const MAX_SECONDS = 600;

/** The audio that a client has appended and not committed. Places in it are samples since the session began. */
export class InputBuffer {
  #format: BufferedFormat;
  #chunks: { bytes: Uint8Array; samples: Int16Array }[] = [];
  #from = 0;
  #until = 0;

  constructor(format: BufferedFormat) {
    this.#format = format;
  }

  get ms(): number {
    return ((this.#until - this.#from) / this.#format.rate) * 1_000;
  }

  /** The end of what has arrived. */
  get untilMs(): number {
    return (this.#until / this.#format.rate) * 1_000;
  }

  /** Begins again in another format, at the same time. */
  setFormat(format: BufferedFormat): void {
    if (format === this.#format) return;
    const seconds = this.#until / this.#format.rate;
    this.#format = format;
    this.#chunks = [];
    this.#from = Math.round(seconds * format.rate);
    this.#until = this.#from;
  }

  append(bytes: Uint8Array): Int16Array {
    const samples = this.#format.decode(bytes);
    this.#chunks.push({ bytes, samples });
    this.#until += samples.length;
    if (this.#until - this.#from > MAX_SECONDS * this.#format.rate)
      this.#dropBefore(this.#until - MAX_SECONDS * this.#format.rate);
    return samples;
  }

  clear(): void {
    this.#chunks = [];
    this.#from = this.#until;
  }

  /** Forgets what was before this time. */
  dropBeforeMs(ms: number): void {
    this.#dropBefore(Math.round((ms / 1_000) * this.#format.rate));
  }

  /** Takes out what was until this time; all of it unless given. */
  takeUntilMs(ms = Number.POSITIVE_INFINITY): Taken {
    const end = Math.min(this.#until, Math.round((ms / 1_000) * this.#format.rate));
    const count = Math.max(0, end - this.#from);
    const samples = new Int16Array(count);
    const bytes = new Uint8Array(count * this.#format.bytesPerSample);
    let at = 0;
    for (const chunk of this.#chunks) {
      const part = chunk.samples.subarray(0, count - at);
      samples.set(part, at);
      bytes.set(chunk.bytes.subarray(0, part.length * this.#format.bytesPerSample), at * this.#format.bytesPerSample);
      at += part.length;
      if (at >= count) break;
    }
    this.#dropBefore(end);
    return { samples, bytes };
  }

  #dropBefore(place: number): void {
    while (this.#from < place) {
      const [first] = this.#chunks;
      if (first === undefined) return;
      const excess = place - this.#from;
      if (first.samples.length <= excess) {
        this.#chunks.shift();
        this.#from += first.samples.length;
        continue;
      }
      first.samples = first.samples.subarray(excess);
      first.bytes = first.bytes.subarray(excess * this.#format.bytesPerSample);
      this.#from = place;
    }
  }
}
