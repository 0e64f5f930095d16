/** Kilobits per second by index in a frame header of layer III: of MPEG 1, and of MPEG 2 and 2.5. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Samples per second of MPEG 1; MPEG 2 has half, MPEG 2.5 a quarter. */
const SAMPLES = [44_100, 48_000, 32_000];

const FRAMES_TO_BE_SURE = 3;

interface Frame {
  bytes: number;
  seconds: number;
}

/**
 * The duration of an MP3 file by its frames, as a decoder reads them: tags may be wrong, and the size says little. Bytes outside of
 * frames count at `strayBytesPerSecond`. Undefined if the file does not begin with frames.
 */
export function mp3Seconds(file: Buffer, strayBytesPerSecond: number): number | undefined {
  const start = endOfTag(file);
  let at = start;
  let seconds = 0;
  let frames = 0;
  let stray = 0;
  while (at < file.length) {
    const frame = frameAt(file, at);
    if (frame === undefined) {
      if (frames < FRAMES_TO_BE_SURE) return undefined;
      stray++;
      at++;
      continue;
    }
    frames++;
    seconds += frame.seconds;
    at += frame.bytes;
  }
  return frames < FRAMES_TO_BE_SURE ? undefined : seconds + stray / strayBytesPerSecond;
}

/** The position after the ID3 tag, whose length has seven bits per byte. */
function endOfTag(file: Buffer): number {
  if (file.length < 10 || file.toString("latin1", 0, 3) !== "ID3") return 0;
  const [a = 0, b = 0, c = 0, d = 0] = file.subarray(6, 10);
  return 10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f));
}

function frameAt(file: Buffer, at: number): Frame | undefined {
  const [first = 0, second = 0, third = 0] = [file[at], file[at + 1], file[at + 2]];
  if (first !== 0xff || (second & 0xe6) !== 0xe2) return undefined;
  const version = (second >> 3) & 3;
  const rate = (version === 3 ? RATES_1 : RATES_2)[third >> 4] ?? 0;
  const base = SAMPLES[(third >> 2) & 3] ?? 0;
  if (version === 1 || rate === 0 || base === 0) return undefined;
  const samplesPerSecond = base / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const samples = version === 3 ? 1_152 : 576;
  const bytes = Math.floor(((samples / 8) * rate * 1_000) / samplesPerSecond) + ((third >> 1) & 1);
  return { bytes, seconds: samples / samplesPerSecond };
}
