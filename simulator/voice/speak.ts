import { seedOf } from "../media/seed-of.ts";
import { hertzOf, LEAD_HZ, LEAD_TONES, LENGTH_TONES, LENGTH_UNIT_SECONDS, SPEECH_RATE, TONE_SECONDS } from "./tones.ts";

/** Of 32,767. */
const LOUDNESS = 9_000;
/** Tones begin and end softly, so that nothing clicks. */
const FADE_SAMPLES = 40;

interface Saying {
  /** Colours the sound. */
  voice: string;
  /** 1 is the ordinary speed. */
  speed: number;
}

/**
 * Encodes a text as audio: each byte of its UTF-8 as two tones. It is not a voice, but `hear` can decode it. 16-bit little-
 * endian samples at SPEECH_RATE.
 */
export function speak(text: string, { voice, speed }: Saying): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const units = Math.round(TONE_SECONDS / speed / LENGTH_UNIT_SECONDS);
  const headTone = Math.round(TONE_SECONDS * SPEECH_RATE);
  const bodyTone = Math.round(units * LENGTH_UNIT_SECONDS * SPEECH_RATE);
  const overtone = (seedOf(voice) % 30) / 100;
  const tones = new Map<string, Int16Array>();
  const samples = new Int16Array((LEAD_TONES + LENGTH_TONES) * headTone + bytes.length * 2 * bodyTone);
  let at = 0;
  const put = (hertz: number, length: number): void => {
    const key = `${hertz} ${length}`;
    const tone = tones.get(key) ?? makeTone(hertz, length, overtone);
    tones.set(key, tone);
    samples.set(tone, at);
    at += length;
  };
  for (let count = 0; count < LEAD_TONES; count++) put(LEAD_HZ, headTone);
  for (let digit = LENGTH_TONES - 1; digit >= 0; digit--) put(hertzOf((units >> (4 * digit)) & 0xf), headTone);
  for (const byte of bytes) {
    put(hertzOf(byte >> 4), bodyTone);
    put(hertzOf(byte & 0xf), bodyTone);
  }
  return new Uint8Array(samples.buffer);
}

function makeTone(hertz: number, length: number, overtone: number): Int16Array {
  const turn = (2 * Math.PI * hertz) / SPEECH_RATE;
  return Int16Array.from({ length }, (_, index) => {
    const fade = Math.min(1, (index + 1) / FADE_SAMPLES, (length - index) / FADE_SAMPLES);
    return LOUDNESS * fade * (Math.sin(turn * index) + overtone * Math.sin(2 * turn * index));
  });
}
