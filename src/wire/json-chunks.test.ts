import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonChunks } from "./json-chunks.ts";

const text = (value: unknown) => [...jsonChunks(value)].join("");

test("H12: any value is written as JSON.stringify writes it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(text(value)).toBe(JSON.stringify(value));
    }),
  );
  expect(text({ a: undefined, b: [] as unknown[], c: {} })).toBe('{"b":[],"c":{}}');
});

test("H20: a long string is written in chunks, and characters at the cuts survive", () => {
  const fox = "🦊";
  const value = { predictions: [{ long: `"${"x".repeat(262_142)}${fox}${"\n".repeat(700_000)}` }], last: 1 };
  const chunks = [...jsonChunks(value)];
  expect(chunks.length).toBeGreaterThan(3);
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(800_000);
  expect(JSON.parse(chunks.join(""))).toEqual(value);
});
