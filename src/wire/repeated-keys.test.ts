import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findRepeatedKey } from "./repeated-keys.ts";

const found = (text: string) => findRepeatedKey(text, JSON.parse(text));

describe("S15: a key that occurs twice in one object", () => {
  test.each([
    ['{"a":1,"a":2}', "a", []],
    ['{"a" :1,"a":2}', "a", []],
    ['{"a"\n\t\r :1, "a":2}', "a", []],
    ['{"a":1,"\\u0061":2}', "a", []],
    ['{"n":1,"messages":[{"b":{}},{"c":[[1,{"x":1,"y":2,"x":3}]]}]}', "x", ["messages", 1, "c", 0, 1]],
    ['{"__proto__":1,"__proto__":2}', "__proto__", []],
    ['{"":1,"":2}', "", []],
    ['{"1":1,"1":2}', "1", []],
    ['{"k\\\\":1,"k\\\\":2}', "k\\", []],
    // The first value looks like one more member: what is one too many must not make up for what is one too few.
    ['{"v":":","a":1,"a":2}', "a", []],
    ['{"a":{"b":1},"a":{"b":1,"c":2}}', "a", []],
  ])("%s", (text, key, path) => {
    expect(found(text)).toEqual({ key, path });
  });

  test.each([
    ["{}"],
    ['{"a":1,"A":2}'],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}'],
    ['{"a":":","b":" :","c":"\\":","d":"\\"a\\": \\"b\\","}'],
    ['{"a":"{\\"a\\":1,\\"a\\":2}"}'],
    ['{"k\\\\":1,"k":2}'],
  ])("%s has none", (text) => {
    expect(found(text)).toBeUndefined();
  });

  test("whatever the object and however it is written: none is found where none is, and one that is put in is found", () => {
    const value = fc.jsonValue({ maxDepth: 5 });
    const object = fc.dictionary(fc.string(), value, { minKeys: 1 });
    const spaces = fc.constantFrom("", " ", "\n", "\t ", "\r\n");
    fc.assert(
      fc.property(object, spaces, fc.nat(), (members, space, pick) => {
        const entries = Object.entries(members).map(([key, item]) => [JSON.stringify(key), JSON.stringify(item)]);
        const write = (list: string[][]) => `{${list.map(([key, item]) => `${key}${space}:${item}`).join(",")}}`;
        expect(found(write(entries))).toBeUndefined();
        const twice = entries[pick % entries.length] ?? [];
        expect(found(write([...entries, twice]))?.key).toBe(JSON.parse(twice[0] ?? '""'));
      }),
      { numRuns: 300 },
    );
  });

  test("S18: the work is linear, on the way through and for what has one key too many", () => {
    const many = `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":":"`).join(",")}}`;
    expect(found(many)).toBeUndefined();
    expect(found(`${many.slice(0, -1)},"k0":1}`)?.key).toBe("k0");
    const deep = `${'{"a":'.repeat(100_000)}{"b":1,"b":2}${"}".repeat(100_000)}`;
    expect(found(deep)?.path).toHaveLength(100_000);
  });
});
