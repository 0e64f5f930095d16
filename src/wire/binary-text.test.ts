import { expect, test } from "bun:test";
import fc from "fast-check";
import { binaryOfBytes, binaryOfText, bytesOfBinary, countCharacters, textOfBinary } from "./binary-text.ts";

test("H07: text of any language goes into bytes and back, and is counted in characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const whole = text.toWellFormed().replace(/^\uFEFF+/, "");
      const binary = binaryOfText(whole);
      expect(bytesOfBinary(binary)).toEqual(Buffer.from(whole));
      expect(binaryOfBytes(new TextEncoder().encode(whole))).toBe(binary);
      expect(textOfBinary(binary)).toBe(whole);
      expect(countCharacters(binary, 0, binary.length)).toBe([...whole].length);
    }),
  );
});

test("bytes that are no text stay what they are", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256).subarray(7);
  expect(new Uint8Array(bytesOfBinary(binaryOfBytes(bytes)))).toEqual(new Uint8Array(bytes));
});
