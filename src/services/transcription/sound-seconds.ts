import { mp3Seconds } from "./mp3-seconds.ts";

/** The bytes of a second of compressed speech if nothing better is known: 32 kbit/s. */
const BYTES_PER_SECOND = 4_000;
/** The most bytes of a second of any recording: 192,000 samples of 32 bits on two channels. */
const MAX_BYTES_PER_SECOND = 1_536_000;

const MAX_CHUNKS = 64;
/** Sample formats of known size: integer, float, A-law, µ-law, and the extensible format. */
const PLAIN_FORMS: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);

/** The duration of a recording: of a WAV file by its samples, of an MP3 file by its frames, of any other by its size. */
export const soundSeconds = (bytes: Uint8Array): number =>
  knownSeconds(bytes, BYTES_PER_SECOND) ?? bytes.length / BYTES_PER_SECOND;

/** The shortest possible duration of a recording. */
export const leastSeconds = (bytes: Uint8Array): number =>
  knownSeconds(bytes, MAX_BYTES_PER_SECOND) ?? bytes.length / MAX_BYTES_PER_SECOND;

function knownSeconds(bytes: Uint8Array, strayBytesPerSecond: number): number | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return wavSeconds(file) ?? mp3Seconds(file, strayBytesPerSecond);
}

/** Undefined if it is not a WAV file of plain samples. */
function wavSeconds(file: Buffer): number | undefined {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let bytesPerSecond: number | undefined;
  let samples: number | undefined;
  let firstAt = file.length;
  let at = 12;
  for (let chunks = 0; at + 8 <= file.length && chunks < MAX_CHUNKS; chunks++) {
    const name = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const begin = at + 8;
    if (name === "fmt " && begin + 16 <= file.length) bytesPerSecond = rateOf(file, begin);
    if (name === "data") {
      if (samples === undefined) firstAt = begin;
      samples = (samples ?? 0) + Math.min(size, file.length - begin);
    }
    at = begin + size + (size % 2);
  }
  if (samples === undefined || bytesPerSecond === undefined) return undefined;
  // Decoders use the actual data, so a length that leaves some of it out, or declares more, does not count.
  return (endsAt(file, at) ? samples : file.length - firstAt) / bytesPerSecond;
}

/** The chunks end with the file; the last one may lack its padding byte. */
const endsAt = (file: Buffer, at: number): boolean => at === file.length || at === file.length + 1;

/** Computed from the samples; the header also has the rate, which no decoder reads. */
function rateOf(file: Buffer, at: number): number | undefined {
  const [form, channels, bits] = [file.readUInt16LE(at), file.readUInt16LE(at + 2), file.readUInt16LE(at + 14)];
  const rate = file.readUInt32LE(at + 4) * channels * Math.ceil(bits / 8);
  return PLAIN_FORMS.has(form) && rate > 0 ? Math.min(rate, MAX_BYTES_PER_SECOND) : undefined;
}
