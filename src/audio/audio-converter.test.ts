import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LiveAudioFormat } from "../canon/live.ts";
import { AudioConverter, bytesPerSecond } from "./audio-converter.ts";

const FORMATS: readonly LiveAudioFormat[] = [
  { type: "pcm", rate: 24_000 },
  { type: "pcm", rate: 16_000 },
  { type: "pcm", rate: 8000 },
  { type: "pcmu" },
  { type: "pcma" },
];

function convert(bytes: Uint8Array, from: LiveAudioFormat, to: LiveAudioFormat, cuts: readonly number[] = []): Buffer {
  const converter = new AudioConverter(from, to);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const end = Math.min(bytes.length, at + cut);
    // A buffer from a pool can begin at an odd offset.
    const shifted = new Uint8Array(end - at + 1).subarray(1);
    shifted.set(bytes.subarray(at, end));
    parts.push(converter.push(shifted).slice());
    at = end;
  }
  return Buffer.concat([...parts, converter.flush()]);
}

const anyFormat = fc.constantFrom(...FORMATS);

describe("decision 0118: conversion of audio", () => {
  test("frames may be cut anywhere, also within a sample", () => {
    const cuts = fc.array(fc.nat(40), { maxLength: 60 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), anyFormat, anyFormat, cuts, (bytes, from, to, where) => {
        expect(convert(bytes, from, to, where).equals(convert(bytes, from, to))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("the audio keeps its length", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4000 }), anyFormat, anyFormat, (length, from, to) => {
        const bytes = new Uint8Array(length * (from.type === "pcm" ? 2 : 1));
        const expected = (bytes.length * bytesPerSecond(to)) / bytesPerSecond(from);
        expect(Math.abs(convert(bytes, from, to).length - expected)).toBeLessThanOrEqual(2);
      }),
    );
  });

  test("audio that is in the format already passes unchanged", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(new AudioConverter({ type: "pcm", rate: 24_000 }, { type: "pcm", rate: 24_000 }).push(bytes)).toBe(bytes);
  });

  test("speech survives a telephone", () => {
    const [pcm, ulaw]: LiveAudioFormat[] = [{ type: "pcm", rate: 24_000 }, { type: "pcmu" }];
    const samples = Int16Array.from({ length: 24_000 }, (_, at) => 8000 * Math.sin((2 * Math.PI * 1000 * at) / 24_000));
    const there = convert(new Uint8Array(samples.buffer), pcm as LiveAudioFormat, ulaw as LiveAudioFormat);
    expect(there.length).toBe(8000);
    const back = convert(there, ulaw as LiveAudioFormat, pcm as LiveAudioFormat);
    const heard = new Int16Array(new Uint8Array(back).buffer);
    const middle = { from: 2000, to: 22_000 };
    let [signal, noise] = [0, 0];
    for (let at = middle.from; at < middle.to; at++) {
      signal += (samples[at] ?? 0) ** 2;
      noise += ((heard[at] ?? 0) - (samples[at] ?? 0)) ** 2;
    }
    // G.711 has about 38 dB.
    expect(10 * Math.log10(signal / noise)).toBeGreaterThan(33);
  });
});
