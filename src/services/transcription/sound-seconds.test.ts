import { describe, expect, test } from "bun:test";
import { leastSeconds, soundSeconds } from "./sound-seconds.ts";

const chunk = (name: string, body: Uint8Array, size = body.length): Buffer => {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

interface Format {
  form?: number;
  channels?: number;
  rate?: number;
  bits?: number;
  /** As the head sums it up. */
  told?: number;
}

function format({ form = 1, channels = 1, rate = 16_000, bits = 16, told = 32_000 }: Format = {}): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(form, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt32LE(told, 8);
  body.writeUInt16LE((channels * bits) / 8, 12);
  body.writeUInt16LE(bits, 14);
  return chunk("fmt ", body);
}

const wav = (...chunks: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from("RIFF"), Buffer.alloc(4), Buffer.from("WAVE"), ...chunks]);

const TEN_SECONDS = Buffer.alloc(320_000);

describe("H26: the duration of a recording, regardless of its header", () => {
  test("by its samples", () => {
    expect(soundSeconds(wav(format(), chunk("data", TEN_SECONDS)))).toBe(10);
    expect(soundSeconds(wav(format({ channels: 2, rate: 8_000 }), chunk("data", TEN_SECONDS)))).toBe(10);
    expect(soundSeconds(wav(format({ rate: 32_000, bits: 8 }), chunk("data", TEN_SECONDS)))).toBe(10);
  });

  test("a byte rate that contradicts the samples does not count", () => {
    expect(soundSeconds(wav(format({ told: 0x7fffffff }), chunk("data", TEN_SECONDS)))).toBe(10);
    expect(soundSeconds(wav(format({ told: 1 }), chunk("data", TEN_SECONDS)))).toBe(10);
  });

  test.each([0, 4, 0xffffffff])("a length of %d is not believed where the file has other samples", (size) => {
    const seconds = soundSeconds(wav(format(), chunk("data", TEN_SECONDS, size)));
    expect(seconds).toBeCloseTo(10, 2);
  });

  test("bytes around the samples are not audio, and several runs of samples are one recording", () => {
    const list = chunk("LIST", Buffer.alloc(64_001));
    expect(soundSeconds(wav(format(), list, chunk("data", TEN_SECONDS), list))).toBe(10);
    expect(soundSeconds(wav(format(), chunk("data", TEN_SECONDS), chunk("data", TEN_SECONDS)))).toBe(20);
  });

  test("a last chunk of odd length may lack its filling", () => {
    const odd = chunk("data", Buffer.alloc(32_001)).subarray(0, -1);
    expect(soundSeconds(wav(format(), odd))).toBeCloseTo(1, 3);
  });

  test("a byte rate beyond the finest recording does not count", () => {
    const rate = { rate: 0x7fffffff, channels: 2, bits: 32 };
    expect(soundSeconds(wav(format(rate), chunk("data", Buffer.alloc(1_536_000))))).toBe(1);
  });

  test("anything else by its size: as speech that is compressed, or as the least that it can last", () => {
    for (const file of [
      Buffer.alloc(8_000),
      wav(format({ form: 85 }), chunk("data", Buffer.alloc(8_000))),
      wav(format({ rate: 0 }), chunk("data", Buffer.alloc(8_000))),
      wav(format(), chunk("LIST", Buffer.alloc(8_000))),
      Buffer.from("RIFF"),
    ]) {
      expect(soundSeconds(file)).toBe(file.length / 4_000);
      expect(leastSeconds(file)).toBe(file.length / 1_536_000);
    }
    expect(leastSeconds(wav(format(), chunk("data", TEN_SECONDS)))).toBe(10);
  });
});
