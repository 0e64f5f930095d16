import { UsageError } from "../command.ts";

/** Samples of 16 bits, one channel. */
export interface Recording {
  samples: Int16Array;
  rate: number;
}

const PCM = 1;
/** The format is in the first two bytes of a subtype. */
const EXTENSIBLE = 0xfffe;
const SUBTYPE_AT = 24;
const FORMATS: Readonly<Record<number, string>> = {
  2: "ADPCM",
  3: "floating-point",
  6: "A-law",
  7: "μ-law",
  17: "IMA ADPCM",
  85: "MP3",
};
const [LOWEST_RATE, HIGHEST_RATE] = [4_000, 192_000];
const MAX_SECONDS = 600;
const HOW_TO_CONVERT = "Convert it with: ffmpeg -i FILE -c:a pcm_s16le out.wav";

/** Reads a WAV file with samples of 16 bits. Several channels are mixed. `name` is for errors. */
export function readWav(bytes: Uint8Array, name: string): Recording {
  const refuse = (problem: string): UsageError => new UsageError(`"${name}" ${problem}`);
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE")
    throw refuse(`is not a WAV file. ${HOW_TO_CONVERT}`);
  let format: Format | undefined;
  for (let at = 12; at + 8 <= file.length; ) {
    const chunk = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    // The head of a stream may name no length, or one beyond the end of the file.
    const body = file.subarray(at + 8, Math.min(file.length, at + 8 + size));
    if (chunk === "fmt ") format = readFormat(body, refuse);
    if (chunk === "data") {
      if (format === undefined) throw refuse("has no format before its samples.");
      return readSamples(body, format, refuse);
    }
    at += 8 + size + (size % 2);
  }
  throw refuse(format === undefined ? "has no format and no samples." : "has no samples.");
}

interface Format {
  channels: number;
  rate: number;
}

function readFormat(body: Buffer, refuse: (problem: string) => UsageError): Format {
  if (body.length < 16) throw refuse("has an incomplete format.");
  const named = body.readUInt16LE(0);
  const tag = named === EXTENSIBLE && body.length >= SUBTYPE_AT + 2 ? body.readUInt16LE(SUBTYPE_AT) : named;
  const [channels, rate, bits] = [body.readUInt16LE(2), body.readUInt32LE(4), body.readUInt16LE(14)];
  if (tag !== PCM)
    throw refuse(`has ${FORMATS[tag] ?? `unknown (${tag})`} samples; they must be PCM. ${HOW_TO_CONVERT}`);
  if (bits !== 16) throw refuse(`has samples of ${bits} bits; they must have 16. ${HOW_TO_CONVERT}`);
  if (channels < 1 || channels > 32) throw refuse(`has ${channels} channels; it must have 1 to 32.`);
  if (rate < LOWEST_RATE || rate > HIGHEST_RATE)
    throw refuse(`has ${rate} samples per second; it must have ${LOWEST_RATE} to ${HIGHEST_RATE}.`);
  return { channels, rate };
}

function readSamples(body: Buffer, { channels, rate }: Format, refuse: (problem: string) => UsageError): Recording {
  const count = Math.floor(body.length / 2 / channels);
  if (count === 0) throw refuse("has no samples.");
  if (count > MAX_SECONDS * rate) throw refuse(`is longer than ${MAX_SECONDS / 60} minutes.`);
  const samples = Int16Array.from({ length: count }, (_, index) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += body.readInt16LE((index * channels + channel) * 2);
    return Math.round(sum / channels);
  });
  return { samples, rate };
}
