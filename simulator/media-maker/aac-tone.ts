export const AUDIO_RATE = 48_000;
export const SAMPLES_PER_FRAME = 1024;
/** What a decoder has to know in advance: low complexity, 48 kHz, one channel. */
export const AUDIO_CONFIG = Uint8Array.from([0x11, 0x88]);

const WINDOW = 2 * SAMPLES_PER_FRAME;
/** Of 32,767: soft. */
const LOUDNESS = 2500;
/** At this rate the first ten bands hold four coefficients each; all tones lie well inside. */
const BANDS = 10;
const COEFFICIENTS = BANDS * 4;
const GAIN = 128;
const CODEBOOK = 11;
/** The codebook's word for two zeros, and for two numbers that are too large for it and follow as escapes. */
const ZEROS = "0000";
const ESCAPES = "00100";
const MIN_ESCAPE = 16;

function bits(value: number, length: number): string {
  return value.toString(2).padStart(length, "0");
}

function escapeWord(value: number): string {
  const length = Math.floor(Math.log2(value));
  return `${"1".repeat(length - 4)}0${bits(value - 2 ** length, length)}`;
}

/** The spectrum of a sine that has `periods` whole periods in a frame, quantized as the format has it. */
function spectrum(periods: number): number[] {
  const step = 2 ** ((GAIN - 100) / 4);
  return Array.from({ length: COEFFICIENTS }, (_, index) => {
    let sum = 0;
    for (let n = 0; n < WINDOW; n++) {
      const sample = LOUDNESS * Math.sin((2 * Math.PI * periods * n) / SAMPLES_PER_FRAME);
      const shape = Math.sin((Math.PI / WINDOW) * (n + 0.5));
      sum +=
        2 * sample * shape * Math.cos(((2 * Math.PI) / WINDOW) * (n + (SAMPLES_PER_FRAME + 1) / 2) * (index + 0.5));
    }
    return Math.sign(sum) * Math.round((Math.abs(sum) / step) ** 0.75);
  });
}

/**
 * One frame of AAC that holds a tone. A sine with whole periods in a frame looks the same in every frame, so that this one
 * repeated is a steady tone, and only two words of one codebook are needed: near the tone all numbers are large enough to
 * be escapes, and far from it they are as good as zero.
 */
export function toneFrame(periods: number): Uint8Array {
  const numbers = spectrum(periods);
  let pairs = "";
  for (let index = 0; index < COEFFICIENTS; index += 2) {
    const pair = numbers.slice(index, index + 2);
    if (pair.every((number) => Math.abs(number) < MIN_ESCAPE / 2)) {
      pairs += ZEROS;
      continue;
    }
    const signs = pair.map((number) => (number < 0 ? "1" : "0")).join("");
    pairs += ESCAPES + signs + pair.map((number) => escapeWord(Math.max(MIN_ESCAPE, Math.abs(number)))).join("");
  }
  const stream = [
    "000",
    "0000",
    bits(GAIN, 8),
    // One long window with the shape of a sine, no prediction.
    "0000",
    bits(BANDS, 6),
    "0",
    bits(CODEBOOK, 4),
    bits(BANDS, 5),
    // Every band is scaled as the one before.
    "0".repeat(BANDS),
    // Neither pulses nor noise shaping nor gain control.
    "000",
    pairs,
    "111",
  ].join("");
  const bytes = stream.padEnd(Math.ceil(stream.length / 8) * 8, "0").match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}
