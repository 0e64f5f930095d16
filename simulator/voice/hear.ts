import {
  HEAD_SECONDS,
  hertzOf,
  LEAD_HZ,
  LEAD_TONES,
  LENGTH_TONES,
  LENGTH_UNIT_SECONDS,
  TONE_SECONDS,
} from "./tones.ts";

/** What was heard in a recording. */
export interface Heard {
  /** Undefined where it is not the simulator's own voice. */
  text: string | undefined;
  seconds: number;
  /** When the text begins, and how long each of its bytes takes. */
  beginsAt: number;
  secondsPerByte: number;
}

/** Quieter than this is silence, of 32,767. */
const SILENCE = 200;
/** The part of a tone that is looked at: its ends are soft, and it may begin a little late. */
const MARGIN = 0.1;

const HALVES = Array.from({ length: 16 }, (_, half) => half);

/** Finds the tones of `speak` again, at any rate of samples and any loudness. */
export function hear(samples: Int16Array, rate: number): Heard {
  const seconds = samples.length / rate;
  const nothing: Heard = { text: undefined, seconds, beginsAt: 0, secondsPerByte: 0 };
  const start = samples.findIndex((sample) => Math.abs(sample) > SILENCE);
  if (start < 0) return nothing;
  const from = start / rate;
  const toneAt = (at: number, lasts: number) => loudest(samples, rate, at + lasts * MARGIN, lasts * (1 - 2 * MARGIN));
  for (let count = 0; count < LEAD_TONES; count++) {
    if (toneAt(from + count * TONE_SECONDS, TONE_SECONDS) !== "lead") return nothing;
  }
  let units = 0;
  for (let digit = 0; digit < LENGTH_TONES; digit++) {
    const half = toneAt(from + (LEAD_TONES + digit) * TONE_SECONDS, TONE_SECONDS);
    if (typeof half !== "number") return nothing;
    units = units * 16 + half;
  }
  const lasts = units * LENGTH_UNIT_SECONDS;
  if (lasts === 0) return nothing;
  const beginsAt = from + HEAD_SECONDS;
  const count = Math.floor((seconds - beginsAt) / (2 * lasts) + 0.5);
  const bytes = new Uint8Array(Math.max(0, count));
  for (let index = 0; index < bytes.length; index++) {
    const at = beginsAt + index * 2 * lasts;
    const high = toneAt(at, lasts);
    const low = toneAt(at + lasts, lasts);
    if (typeof high !== "number" || typeof low !== "number") return nothing;
    bytes[index] = high * 16 + low;
  }
  return { text: new TextDecoder().decode(bytes), seconds, beginsAt, secondsPerByte: 2 * lasts };
}

function loudest(samples: Int16Array, rate: number, at: number, lasts: number): number | "lead" {
  const from = Math.round(at * rate);
  const part = samples.subarray(from, from + Math.round(lasts * rate));
  let best: number | "lead" = "lead";
  let most = power(part, LEAD_HZ, rate);
  for (const half of HALVES) {
    const found = power(part, hertzOf(half), rate);
    if (found > most) [best, most] = [half, found];
  }
  return best;
}

/** Goertzel's algorithm: how much of one frequency is in the samples. */
function power(samples: Int16Array, hertz: number, rate: number): number {
  const twice = 2 * Math.cos((2 * Math.PI * hertz) / rate);
  let one = 0;
  let two = 0;
  for (const sample of samples) {
    const next = sample + twice * one - two;
    two = one;
    one = next;
  }
  return one * one + two * two - twice * one * two;
}
