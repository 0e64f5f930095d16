import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonPieces } from "./json-pieces.ts";

const text = (value: unknown) => [...jsonPieces(value)].join("");

test("H12: any value is written as JSON.stringify writes it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(text(value)).toBe(JSON.stringify(value));
    }),
  );
  expect(text({ a: undefined, b: [] as unknown[], c: {} })).toBe('{"b":[],"c":{}}');
});

test("H20: a long string leaves in pieces, and characters at the cuts survive", () => {
  const fox = "🦊";
  const value = { predictions: [{ long: `"${"x".repeat(262_142)}${fox}${"\n".repeat(700_000)}` }], last: 1 };
  const pieces = [...jsonPieces(value)];
  expect(pieces.length).toBeGreaterThan(3);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(800_000);
  expect(JSON.parse(pieces.join(""))).toEqual(value);
});
