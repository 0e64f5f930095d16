/** Kilobits a second by the number in a frame's head, of the third layer: as the first version of the format has them, and the later ones. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** Samples a second of the first version; the second has half of them, and the one between a quarter. */
const SAMPLES = [44_100, 48_000, 32_000];

const FRAMES_TO_BE_SURE = 3;

interface Frame {
  bytes: number;
  seconds: number;
}

/**
 * How long an MP3 file plays, by its frames as a decoder takes them: what its tags say may be wrong, and the number of bytes says little. Bytes
 * that are in no frame last as long as `strayBytesPerSecond` says. Undefined where it does not begin with frames.
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

/** Behind the tag that such files may begin with, whose length has seven bits in each byte. */
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
