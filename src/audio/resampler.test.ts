import { describe, expect, test } from "bun:test";
import { Resampler } from "./resampler.ts";

/** Long enough to tell frequencies apart. */
const SECONDS = 0.25;

function sine(hertz: number, rate: number, seconds = SECONDS, loudness = 16_000): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, at) =>
    Math.round(loudness * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );
}

function resample(input: Int16Array, from: number, to: number, chunk = input.length): Int16Array {
  const resampler = new Resampler(from, to);
  const parts: number[] = [];
  for (let at = 0; at < input.length; at += chunk) parts.push(...resampler.push(input.subarray(at, at + chunk)));
  parts.push(...resampler.flush());
  return Int16Array.from(parts);
}

/** The level of one frequency, relative to a sine of this loudness, in the middle of the signal. */
function level(signal: Int16Array, hertz: number, rate: number, loudness = 16_000): number {
  const [start, end] = [Math.floor(signal.length * 0.1), Math.floor(signal.length * 0.9)];
  let [sine, cosine, weights] = [0, 0, 0];
  for (let at = start; at < end; at++) {
    const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * (at - start)) / (end - start));
    const angle = (2 * Math.PI * hertz * at) / rate;
    const value = (signal[at] ?? 0) * weight;
    sine += value * Math.sin(angle);
    cosine += value * Math.cos(angle);
    weights += weight;
  }
  return 20 * Math.log10((2 * Math.hypot(sine, cosine)) / weights / loudness);
}

/** The level of everything but silence. */
function power(signal: Int16Array, loudness = 16_000): number {
  const middle = signal.subarray(Math.floor(signal.length * 0.1), Math.floor(signal.length * 0.9));
  const sum = middle.reduce((total, sample) => total + sample * sample, 0);
  return 10 * Math.log10(Math.max(1e-9, sum / middle.length) / (loudness ** 2 / 2));
}

const RATES = [
  [24_000, 16_000],
  [16_000, 24_000],
  [8000, 16_000],
  [8000, 24_000],
  [16_000, 8000],
  [24_000, 8000],
] as const;

describe.each(RATES)("decision 0118: %i to %i Hz", (from, to) => {
  const band = (Math.min(from, to) / 2) * (7 / 8);

  test("the band is flat within half a decibel", () => {
    for (let hertz = 50; hertz <= band; hertz += (band - 50) / 24)
      expect(Math.abs(level(resample(sine(hertz, from), from, to), hertz, to))).toBeLessThan(0.5);
  });

  test("nothing folds back into the band, and no image appears above it", () => {
    if (to < from) {
      for (let hertz = to / 2; hertz < from / 2; hertz += (from / 2 - to / 2) / 24)
        expect(power(resample(sine(hertz, from), from, to))).toBeLessThan(-60);
    } else {
      for (let hertz = 100; hertz <= band; hertz += band / 16) {
        const output = resample(sine(hertz, from), from, to);
        for (let image = from - hertz; image < to / 2; image += from)
          expect(level(output, image, to)).toBeLessThan(-60);
      }
    }
  });

  test("chunks of any size give the same samples, as many as the rates say", () => {
    const input = Int16Array.from({ length: 2053 }, (_, at) => ((at * 7919 + (at % 13) * 104_729) % 60_000) - 30_000);
    const whole = resample(input, from, to);
    expect(Math.abs(whole.length - (input.length * to) / from)).toBeLessThanOrEqual(1);
    for (const chunk of [1, 2, 3, 5, 7, 64, 480, 1000, 2052]) expect(resample(input, from, to, chunk)).toEqual(whole);
  });

  test("the signal is not delayed", () => {
    const input = new Int16Array(from / 10);
    input[from / 20] = 30_000;
    const output = resample(input, from, to);
    const peak = output.reduce((best, sample, at) => (sample > (output[best] ?? 0) ? at : best), 0);
    expect(Math.abs(peak / to - 0.05)).toBeLessThanOrEqual(1 / Math.min(from, to));
  });

  test("a flushed stream starts from the beginning", () => {
    const resampler = new Resampler(from, to);
    const once = [...resampler.push(sine(440, from, 0.05)), ...resampler.flush()];
    expect([...resampler.push(sine(440, from, 0.05)), ...resampler.flush()]).toEqual(once);
  });
});

test("loud signals are clipped and do not wrap around", () => {
  const square = Int16Array.from({ length: 2400 }, (_, at) => (at % 60 < 30 ? 32_767 : -32_768));
  const output = resample(square, 24_000, 16_000);
  for (let at = 100; at < output.length - 100; at++) {
    const phase = (at * 1.5) % 60;
    if (phase > 6 && phase < 24) expect(output[at]).toBeGreaterThan(20_000);
    if (phase > 36 && phase < 54) expect(output[at]).toBeLessThan(-20_000);
  }
});
