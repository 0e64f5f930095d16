import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { holdsMoreValues } from "./json-values.ts";

const countOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 1;
  const inside = Object.values(value);
  // An empty array or object has a bracket with nothing after it.
  return (
    1 +
    Math.max(
      1,
      inside.reduce((sum: number, one) => sum + countOf(one), 0),
    )
  );
};

describe("S18: the values in a JSON text are counted without parsing it", () => {
  test("counts as many values as the parser finds, whatever the strings contain", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
          expect(holdsMoreValues(text, countOf(value))).toBe(false);
        }
      }),
    );
    expect(holdsMoreValues('{"a":"[,{[,\\",,","b":[1,2]}', 5)).toBe(false);
    expect(holdsMoreValues("[1,2,3]", 3)).toBe(true);
    expect(holdsMoreValues("[[[[]]]]", 4)).toBe(true);
  });

  test("stops at the limit", () => {
    // Past the limit, the unfinished string would be scanned to its end.
    expect(holdsMoreValues(`[${"{},".repeat(2_000_000)}"`, 1000)).toBe(true);
  });
});
