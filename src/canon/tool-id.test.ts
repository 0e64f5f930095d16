import { expect, test } from "bun:test";
import fc from "fast-check";
import { digestOfText, fitToolId, type ToolIdRule } from "./tool-id.ts";

const nine: ToolIdRule = { pattern: /^[a-zA-Z0-9]{9}$/, make: (seed) => seed.slice(-9) };

test("mapping 4: a valid id is kept, and an invalid one always gets the same derived id", () => {
  expect(fitToolId("abcABC123", nine)).toBe("abcABC123");
  expect(fitToolId("call_1", undefined)).toBe("call_1");
  fc.assert(
    fc.property(fc.string(), (id) => {
      expect(fitToolId(id, nine)).toMatch(nine.pattern);
      expect(fitToolId(id, nine)).toBe(fitToolId(id, nine));
    }),
  );
});

test("two ids of one response do not collide", () => {
  const ids = Array.from({ length: 5000 }, (_, index) => digestOfText(`toolu_${index}`).slice(-9));
  expect(new Set(ids).size).toBe(ids.length);
});
