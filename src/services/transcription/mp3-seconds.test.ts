import { describe, expect, test } from "bun:test";
import { mp3Seconds } from "./mp3-seconds.ts";
import { leastSeconds, soundSeconds } from "./sound-seconds.ts";

const STRAY = 4_000;

/** A frame of the first version at 44,100 Hz: 1,152 samples. */
function frame(rateIndex: number, kilobits: number, padding = 0): Buffer {
  const bytes = Buffer.alloc(Math.floor((144 * kilobits * 1_000) / 44_100) + padding);
  bytes.set([0xff, 0xfb, (rateIndex << 4) | (padding << 1)]);
  return bytes;
}
const SECONDS = 1_152 / 44_100;
const frames = (count: number, one: Buffer) => Buffer.concat(Array.from({ length: count }, () => one));

describe("choices 5: an MP3 file lasts as long as its frames", () => {
  test("at one rate, with padding, and at several rates", () => {
    expect(mp3Seconds(frames(100, frame(9, 128)), STRAY)).toBeCloseTo(100 * SECONDS, 9);
    expect(mp3Seconds(frames(100, frame(9, 128, 1)), STRAY)).toBeCloseTo(100 * SECONDS, 9);
    const mixed = Buffer.concat([frames(10, frame(14, 320)), frames(90, frame(1, 32))]);
    expect(mp3Seconds(mixed, STRAY)).toBeCloseTo(100 * SECONDS, 9);
  });

  test("of the later versions, whose frames are shorter", () => {
    // 16,000 Hz at 24 kbit/s, and 8,000 Hz at 8 kbit/s.
    const second = Buffer.alloc(Math.floor((72 * 24_000) / 16_000));
    second.set([0xff, 0xf3, (3 << 4) | (2 << 2)]);
    expect(mp3Seconds(frames(50, second), STRAY)).toBeCloseTo((50 * 576) / 16_000, 9);
    const between = Buffer.alloc(Math.floor((72 * 8_000) / 8_000));
    between.set([0xff, 0xe3, (1 << 4) | (2 << 2)]);
    expect(mp3Seconds(frames(50, between), STRAY)).toBeCloseTo((50 * 576) / 8_000, 9);
  });

  test("after a tag, whose bytes are not audio", () => {
    const tag = Buffer.concat([Buffer.from("ID3\x04\0\0"), Buffer.from([0, 0, 1, 4]), Buffer.alloc(132)]);
    expect(mp3Seconds(Buffer.concat([tag, frames(10, frame(9, 128))]), STRAY)).toBeCloseTo(10 * SECONDS, 9);
  });

  test("S23: bytes outside of frames cost as elsewhere, so that nothing is hidden behind a few frames", () => {
    const hidden = Buffer.concat([frames(10, frame(9, 128)), Buffer.alloc(40_000)]);
    expect(mp3Seconds(hidden, STRAY)).toBeCloseTo(10 * SECONDS + 10, 9);
  });

  test("a file of anything else, or of hardly a frame, is estimated by its size", () => {
    expect(mp3Seconds(Buffer.from("OggS and more of it"), STRAY)).toBeUndefined();
    expect(mp3Seconds(frames(2, frame(9, 128)), STRAY)).toBeUndefined();
    expect(mp3Seconds(Buffer.alloc(0), STRAY)).toBeUndefined();
    // Reserved values of version, rate and samples.
    for (const head of [
      [0xff, 0xea, 0x90],
      [0xff, 0xfa, 0xf0],
      [0xff, 0xfa, 0x9c],
      [0xff, 0xfa, 0x00],
    ])
      expect(mp3Seconds(frames(9, Buffer.from([...head, ...new Uint8Array(414)])), STRAY)).toBeUndefined();
    expect(soundSeconds(new Uint8Array(8_000))).toBe(2);
  });

  test("H27: the frames are also the least that such a file can last", () => {
    const file = frames(1_000, frame(9, 128));
    expect(leastSeconds(file)).toBeCloseTo(1_000 * SECONDS, 6);
    expect(soundSeconds(file)).toBeCloseTo(1_000 * SECONDS, 6);
  });
});
