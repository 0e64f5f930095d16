import { describe, expect, test } from "bun:test";
import { decodeBase64, inspectMedia, MediaProblem } from "./inspect-media.ts";
import { speak } from "./voice/speak.ts";
import { SPEECH_RATE } from "./voice/tones.ts";
import { writeWav } from "./voice/wav.ts";

const ascii = (text: string): number[] => [...Buffer.from(text, "latin1")];

/** The smallest headers that hold a size; the images after them do not matter here. */
const JPEG = Uint8Array.from([
  0xff,
  0xd8,
  0xff,
  0xe0,
  0,
  4,
  0,
  0,
  0xff,
  0xc0,
  0,
  17,
  8,
  0,
  30,
  0,
  40,
  3,
  ...Array(12).fill(0),
]);
const WEBP_LOSSLESS = Uint8Array.from([
  ...ascii("RIFF"),
  30,
  0,
  0,
  0,
  ...ascii("WEBPVP8L"),
  10,
  0,
  0,
  0,
  0x2f,
  0x09,
  0xc0,
  0x04,
  0,
  ...Array(8).fill(0),
]);
const WEBP_EXTENDED = Uint8Array.from([
  ...ascii("RIFF"),
  30,
  0,
  0,
  0,
  ...ascii("WEBPVP8X"),
  10,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  99,
  0,
  0,
  49,
  0,
  0,
]);
const GIF = Uint8Array.from([...ascii("GIF89a"), 7, 0, 5, 0]);
const PDF = Uint8Array.from(
  ascii("%PDF-1.4\n1 0 obj << /Type /Pages >>\n2 0 obj << /Type /Page >>\n3 0 obj << /Type/Page >>\n%%EOF"),
);
const WAV = Uint8Array.from([...ascii("RIFF"), 4, 0, 0, 0, ...ascii("WAVEfmt ")]);

describe("contract 2.6: what the bytes say", () => {
  test("sizes and pages", () => {
    expect(inspectMedia(JPEG, "image/jpeg").description).toContain("40×30 pixels");
    expect(inspectMedia(JPEG, "image/jpg").mimeType).toBe("image/jpeg");
    expect(inspectMedia(WEBP_LOSSLESS, "image/webp").description).toContain("10×20 pixels");
    expect(inspectMedia(WEBP_EXTENDED, "image/webp").description).toContain("100×50 pixels");
    expect(inspectMedia(GIF, "image/gif").description).toContain("7×5 pixels");
    expect(inspectMedia(PDF, "application/pdf").description).toContain("2 pages");
    expect(inspectMedia(WAV, "audio/wav")).toMatchObject({ modality: "AUDIO", tokens: 1 });
    expect(inspectMedia(Buffer.from("čtyři"), "text/plain; charset=utf-8").description).toBe(
      "text/plain of 5 characters",
    );
  });

  test("a wrong label is a problem that names both types", () => {
    for (const [bytes, type] of [
      [JPEG, "image/png"],
      [PDF, "image/png"],
      [GIF, "application/pdf"],
      [JPEG, "audio/wav"],
    ] as const) {
      expect(() => inspectMedia(bytes, type)).toThrow(MediaProblem);
    }
    expect(() => inspectMedia(new Uint8Array(), "image/png")).toThrow(MediaProblem);
    expect(() => inspectMedia(Uint8Array.of(0xff, 0xfe), "text/plain")).toThrow(MediaProblem);
    expect(() => inspectMedia(JPEG, "image/png")).toThrow(expect.objectContaining({ found: "image/jpeg" }));
  });

  test("base64 of both alphabets, and nothing else", () => {
    expect(decodeBase64("-__-")).toEqual(Uint8Array.of(0xfb, 0xff, 0xfe));
    expect(decodeBase64("+//+")).toEqual(Uint8Array.of(0xfb, 0xff, 0xfe));
    expect(decodeBase64("AQ==")).toEqual(Uint8Array.of(1));
    expect(decodeBase64("AQ")).toEqual(Uint8Array.of(1));
    expect(decodeBase64("rs_1 x!")).toBeUndefined();
    expect(decodeBase64("A")).toBeUndefined();
  });
});

test("what the simulator says is heard in a recording", () => {
  const said = writeWav(speak("Hello there.", { voice: "alloy", speed: 1 }), SPEECH_RATE);
  expect(inspectMedia(said, "audio/wav").description).toStartWith('audio/wav that says "Hello there.", ');
});
