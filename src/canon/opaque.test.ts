import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Opaque, unwrapOpaque, unwrapOpaqueBase64, wrapOpaque, wrapOpaqueBase64 } from "./opaque.ts";
import { readThoughts, thoughtsAsSignature } from "./opaque-carriers.ts";

const arbitraryOpaque: fc.Arbitrary<Opaque> = fc
  .record({
    origin: fc.string(),
    kind: fc.constantFrom("signature" as const, "redacted" as const, "encrypted" as const),
    value: fc.string({ unit: "grapheme" }),
    format: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ format, ...rest }) => (format === undefined ? rest : { ...rest, format }));

test("H01: unwrapping returns the wrapped value", () => {
  fc.assert(
    fc.property(arbitraryOpaque, (opaque) => {
      expect(unwrapOpaque(wrapOpaque(opaque))).toEqual(opaque);
      expect(unwrapOpaqueBase64(wrapOpaqueBase64(opaque))).toEqual(opaque);
    }),
  );
});

test("sdks 1.3: the form for genai is base64, which its Python SDK requires, and survives the URL-safe alphabet", () => {
  fc.assert(
    fc.property(arbitraryOpaque, (opaque) => {
      const wrapped = wrapOpaqueBase64(opaque);
      expect(wrapped).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
      const urlSafe = wrapped.replaceAll("+", "-").replaceAll("/", "_");
      expect(unwrapOpaqueBase64(urlSafe)).toEqual(opaque);
    }),
  );
});

test("foreign values are left alone", () => {
  for (const text of ["", "trv", "EpUCCkYI", "dHJ2", "dHJ2MQ=="]) {
    expect(unwrapOpaque(text)).toBeUndefined();
    expect(unwrapOpaqueBase64(text)).toBeUndefined();
  }
});

test("an altered value is a client error", () => {
  for (const text of ["trv1.", "trv1.!!!", "trv1.bnVsbA", `trv1.${btoa('["a","b","c"]')}`]) {
    expect(() => unwrapOpaque(text)).toThrow("altered");
    expect(() => unwrapOpaqueBase64(btoa(text))).toThrow("altered");
  }
});

test("altered thoughts on a call are a client error", () => {
  const signature = { origin: "messages", kind: "signature" as const, value: "s" };
  const carried = thoughtsAsSignature([{ text: "Hm.", signature }, { text: "Oh." }]);
  expect(readThoughts(carried)).toEqual([{ text: "Hm.", signature }, { text: "Oh." }]);
  for (const value of ["", "{}", "[1]"]) expect(() => readThoughts({ ...carried, value })).toThrow("altered");
});
