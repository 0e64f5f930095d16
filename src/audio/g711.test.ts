import { describe, expect, test } from "bun:test";
import { G711 } from "./g711.ts";

const CODES = Array.from({ length: 256 }, (_, code) => code);

describe("decision 0118: G.711", () => {
  // Rows of tables 1a, 1b, 2a and 2b of the recommendation: decoder outputs in 16 bits.
  test.each([
    ["pcmu", 0x00, -32_124],
    ["pcmu", 0x80, 32_124],
    ["pcmu", 0x0f, -16_764],
    ["pcmu", 0x8f, 16_764],
    ["pcmu", 0x70, -120],
    ["pcmu", 0x7e, -8],
    ["pcmu", 0x7f, 0],
    ["pcmu", 0xfe, 8],
    ["pcmu", 0xff, 0],
    ["pcma", 0xaa, 32_256],
    ["pcma", 0x2a, -32_256],
    ["pcma", 0x80, 5504],
    ["pcma", 0x00, -5504],
    ["pcma", 0xd5, 8],
    ["pcma", 0x55, -8],
    ["pcma", 0xd4, 24],
    ["pcma", 0x54, -24],
  ] as const)("%s decodes %i as %i", (law, code, sample) => {
    expect(G711[law].linear[code]).toBe(sample);
  });

  test("every code returns to itself, except the negative zero of the mu-law", () => {
    expect(CODES.filter((code) => G711.pcma.encode(G711.pcma.linear[code] ?? 0) !== code)).toEqual([]);
    expect(CODES.filter((code) => G711.pcmu.encode(G711.pcmu.linear[code] ?? 0) !== code)).toEqual([0x7f]);
    expect(G711.pcmu.encode(0)).toBe(0xff);
  });

  test.each(["pcmu", "pcma"] as const)(
    "%s: every sample is within a step of its code, and a louder one never gets a quieter code",
    (law) => {
      const { linear, encode } = G711[law];
      let last = Number.NEGATIVE_INFINITY;
      for (let sample = -32_768; sample <= 32_767; sample++) {
        const value = linear[encode(sample)] ?? 0;
        // Steps are at most a sixteenth of the segment's size; the loudest samples are clipped.
        const step = Math.max(16, Math.abs(sample) / 16 + 8);
        if (Math.abs(sample) <= 32_124) expect(Math.abs(value - sample)).toBeLessThanOrEqual(step);
        expect(value).toBeGreaterThanOrEqual(last);
        last = value;
      }
    },
  );
});
