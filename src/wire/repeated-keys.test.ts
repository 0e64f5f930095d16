import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inspectJson } from "./repeated-keys.ts";

const shapeOf = (text: string) => inspectJson(text, JSON.parse(text));
const found = (text: string) => shapeOf(text).repeated;

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
    // The first value looks like one more member. The surplus must not hide the repeated key.
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
  ])("%s has no repeated key", (text) => {
    expect(found(text)).toBeUndefined();
  });

  test("a repeated key is found in any object exactly if it was put there", () => {
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

  test("S18: the work is linear, with and without a repeated key", () => {
    const many = `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":":"`).join(",")}}`;
    expect(found(many)).toBeUndefined();
    expect(found(`${many.slice(0, -1)},"k0":1}`)?.key).toBe("k0");
    const deep = `${'{"a":'.repeat(100_000)}{"b":1,"b":2}${"}".repeat(100_000)}`;
    expect(found(deep)?.path).toHaveLength(100_000);
  });
});

/** A slow and simple reference: reads the text character by character. */
class PlainReader {
  #at = 0;
  levels = 0;
  repeated: unknown;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.#value([]);
  }

  #space(): string {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#text[this.#at] ?? "";
  }

  #string(): string {
    const start = this.#at++;
    while (this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    return JSON.parse(this.#text.slice(start, ++this.#at)) as string;
  }

  #value(path: (string | number)[], level = 1): void {
    const first = this.#space();
    if (first === '"') this.#string();
    else if (first === "{" || first === "[") this.#items(first, path, level);
    else while (/[-+.\w]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #items(open: "{" | "[", path: (string | number)[], level: number): void {
    this.levels = Math.max(this.levels, level);
    const seen = new Set<string>();
    this.#at++;
    for (let index = 0; this.#space() !== (open === "{" ? "}" : "]"); index++) {
      if (open === "[") this.#value([...path, index], level + 1);
      else {
        const key = this.#string();
        if (seen.has(key)) this.repeated ??= { key, path };
        seen.add(key);
        this.#space();
        this.#at++;
        this.#value([...path, key], level + 1);
      }
      if (this.#space() === ",") this.#at++;
    }
    this.#at++;
  }
}

describe("the inspection agrees with a character-by-character reading", () => {
  const spaces = fc.constantFrom("", "", "", " ", "\n", "\t \r\n");
  const key = fc.constantFrom(
    '"a"',
    '"\\u0061"',
    '"b"',
    '"1"',
    '"01"',
    '"__proto__"',
    '""',
    '":"',
    '"\\""',
    '"\\\\"',
    '"\\ud83d\\ude42"',
    '"🙂"',
    '"\\ud800"',
  );
  const content = fc.constantFrom(
    "x",
    ":",
    '\\"',
    "\\\\",
    "\\n",
    "{",
    "}",
    "[",
    ",",
    "\\u003a",
    "\\u0022",
    "é",
    "🙂",
    "\\udc00",
    '\\":',
    " ",
  );
  const text = fc.array(content, { maxLength: 6 }).map((pieces) => `"${pieces.join("")}"`);
  const scalar = fc.constantFrom("0", "-1.5e3", "true", "false", "null", "12345678901234567890");
  const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
    value: fc.oneof({ maxDepth: 6, depthSize: "medium" }, text, scalar, tie("object"), tie("array")),
    object: fc
      .array(fc.tuple(key, spaces, spaces, tie("value"), spaces), { maxLength: 4 })
      .map(
        (members) =>
          `{${members.map(([name, before, after, item, end]) => `${name}${before}:${after}${item}${end}`).join(",")}}`,
      ),
    array: fc
      .array(fc.tuple(spaces, tie("value"), spaces), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
  }));

  test("S15: on the depth and the first repeated key, with escapes, surrogates and spaces anywhere", () => {
    let some = 0;
    let none = 0;
    const same = (written: string) => {
      const { repeated, levels } = shapeOf(written);
      const plain = new PlainReader(written);
      expect(repeated).toEqual(plain.repeated as typeof repeated);
      // What a repeated key hides is only in the text. The request is rejected whatever its depth.
      if (repeated === undefined) expect(levels).toBe(plain.levels);
      if (repeated === undefined) none++;
      else some++;
    };
    fc.assert(fc.property(object, same), { numRuns: 3000 });
    fc.assert(
      fc.property(value, (inside) => same(`{"a":${inside}}`)),
      { numRuns: 2000 },
    );
    expect(Math.min(some, none)).toBeGreaterThan(500);
  });

  test("S18: the depth is counted no deeper than the stack allows", () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    expect(shapeOf(nested(200)).levels).toBe(200);
    expect(shapeOf(nested(201)).levels).toBe(201);
    expect(shapeOf(nested(100_000))).toEqual({ repeated: undefined, levels: 500, holds: false });
  });

  test("wanted keys are found at any depth; strings that look like them are not", () => {
    const holds = (text: string) => inspectJson(text, JSON.parse(text), new Set(["file_id"])).holds;
    expect(holds('{"a":[{"b":{"file_id":"x"}}]}')).toBe(true);
    expect(holds('{"a":{"\\u0066ile_id":1}}')).toBe(true);
    expect(holds('{"a":"file_id","b":["file_id"],"FILE_ID":1}')).toBe(false);
  });
});
