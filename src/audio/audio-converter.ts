import type { LiveAudioFormat } from "../canon/live.ts";
import { G711 } from "./g711.ts";
import { Resampler } from "./resampler.ts";

const G711_RATE = 8000;
const EMPTY = new Uint8Array(0);

export const rateOf = (format: LiveAudioFormat): number => (format.type === "pcm" ? format.rate : G711_RATE);

/** How many bytes a second of audio has. */
export const bytesPerSecond = (format: LiveAudioFormat): number =>
  format.type === "pcm" ? format.rate * 2 : G711_RATE;

export const isSameFormat = (one: LiveAudioFormat, other: LiveAudioFormat): boolean =>
  one.type === other.type && rateOf(one) === rateOf(other);

/**
 * Converts a stream of audio to another format. Chunks may end in the middle of a sample. Audio that is already in the format passes as
 * it is.
 */
export class AudioConverter {
  readonly #from: LiveAudioFormat;
  readonly #to: LiveAudioFormat;
  readonly #same: boolean;
  readonly #resampler: Resampler | undefined;
  /** The first byte of a sample whose second one has not arrived. */
  #half: number | undefined;

  constructor(from: LiveAudioFormat, to: LiveAudioFormat) {
    this.#from = from;
    this.#to = to;
    this.#same = isSameFormat(from, to);
    this.#resampler = rateOf(from) === rateOf(to) ? undefined : new Resampler(rateOf(from), rateOf(to));
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#same || chunk.length === 0) return chunk;
    const samples = this.#read(chunk);
    return this.#write(this.#resampler === undefined ? samples : this.#resampler.push(samples));
  }

  /** The end of what was waiting for more. Half a sample is dropped. */
  flush(): Uint8Array {
    this.#half = undefined;
    return this.#resampler === undefined ? EMPTY : this.#write(this.#resampler.flush());
  }

  #read(chunk: Uint8Array): Int16Array {
    if (this.#from.type !== "pcm") {
      const { linear } = G711[this.#from.type];
      const samples = new Int16Array(chunk.length);
      for (let at = 0; at < chunk.length; at++) samples[at] = linear[chunk[at] as number] as number;
      return samples;
    }
    const before = this.#half === undefined ? 0 : 1;
    const length = chunk.length + before;
    const samples = new Int16Array(length >> 1);
    const bytes = new Uint8Array(samples.buffer);
    if (this.#half !== undefined && bytes.length > 0) bytes[0] = this.#half;
    const whole = Math.max(0, bytes.length - before);
    bytes.set(chunk.subarray(0, whole), before);
    if (length % 2 === 1) this.#half = bytes.length === 0 ? (this.#half ?? chunk[0]) : chunk[chunk.length - 1];
    else this.#half = undefined;
    return samples;
  }

  #write(samples: Int16Array): Uint8Array {
    if (this.#to.type === "pcm") return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    const law = G711[this.#to.type];
    const codes = new Uint8Array(samples.length);
    for (let at = 0; at < samples.length; at++) codes[at] = law.encode(samples[at] as number);
    return codes;
  }
}
