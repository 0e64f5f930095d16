import { mp3Seconds } from "./mp3-seconds.ts";

/** What a second of compressed speech takes, where nothing better is known: 32 kbit/s. */
const BYTES_PER_SECOND = 4_000;
/** The most that a second of any recording takes: 192,000 samples of 32 bits on two channels. */
const MAX_BYTES_PER_SECOND = 1_536_000;

const MAX_CHUNKS = 64;
/** Forms of samples whose size is known: whole numbers, fractions, and the two of telephony; and the one that says so elsewhere. */
const PLAIN_FORMS: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);

/** How long a recording is: of a WAV file by its samples, of an MP3 file by its frames, of any other by its size. */
export const soundSeconds = (bytes: Uint8Array): number =>
  knownSeconds(bytes, BYTES_PER_SECOND) ?? bytes.length / BYTES_PER_SECOND;

/** The least that a recording can last. */
export const leastSeconds = (bytes: Uint8Array): number =>
  knownSeconds(bytes, MAX_BYTES_PER_SECOND) ?? bytes.length / MAX_BYTES_PER_SECOND;

function knownSeconds(bytes: Uint8Array, strayBytesPerSecond: number): number | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return wavSeconds(file) ?? mp3Seconds(file, strayBytesPerSecond);
}

/** Undefined for what is no WAV file of plain samples. */
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
  // Decoders go by what there is. A length that leaves out some of it, or names more, is no measure of it.
  return (endsAt(file, at) ? samples : file.length - firstAt) / bytesPerSecond;
}

/** The chunks end with the file; a last one of odd length may lack its filling. */
const endsAt = (file: Buffer, at: number): boolean => at === file.length || at === file.length + 1;

/** By its samples: the head has their sum too, which no decoder reads. */
function rateOf(file: Buffer, at: number): number | undefined {
  const [form, channels, bits] = [file.readUInt16LE(at), file.readUInt16LE(at + 2), file.readUInt16LE(at + 14)];
  const rate = file.readUInt32LE(at + 4) * channels * Math.ceil(bits / 8);
  return PLAIN_FORMS.has(form) && rate > 0 ? Math.min(rate, MAX_BYTES_PER_SECOND) : undefined;
}
