import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { boundOf, holdsMoreValues } from "./json-values.ts";

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

describe("S25: the keys in a JSON text are counted without parsing it", () => {
  const keysOf = (value: unknown): number =>
    typeof value !== "object" || value === null
      ? 0
      : (Array.isArray(value) ? 0 : Object.keys(value).length) +
        Object.values(value).reduce((sum: number, one) => sum + keysOf(one), 0);
  const mostOf = (value: unknown): number =>
    typeof value !== "object" || value === null
      ? 0
      : Math.max(Array.isArray(value) ? 0 : Object.keys(value).length, ...Object.values(value).map(mostOf));

  test("counts as many as the parser finds, in all objects and in the largest, whatever the strings contain", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const [keys, objectKeys] = [keysOf(value), mostOf(value)];
        for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
          expect(boundOf(text, { values: 1e6, keys, objectKeys })).toBeUndefined();
          if (keys > 0) expect(boundOf(text, { values: 1e6, keys: keys - 1, objectKeys })).toBe("keys");
          if (objectKeys > 0)
            expect(boundOf(text, { values: 1e6, keys, objectKeys: objectKeys - 1 })).toBe("objectKeys");
        }
      }),
    );
    expect(boundOf('{"a:":":","b":{"c":1}}', { values: 10, keys: 3, objectKeys: 2 })).toBeUndefined();
  });

  test("a text that is not JSON is counted to its end, and refused by its parser", () => {
    for (const text of ["}}}}]]:", ":::::", '{"a":}]:{', '"'])
      expect(boundOf(text, { values: 9, keys: 9 })).toBeUndefined();
    expect(boundOf(":::::", { values: 9, keys: 0 })).toBe("keys");
  });
});
