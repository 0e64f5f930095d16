import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonDiff, readJson, shownValue } from "./json-diff.ts";

const diff = (before: string, after: string) => jsonDiff(readJson(before), readJson(after)).changes;

describe("console review: bodies are compared by path", () => {
  test("reordered keys are equal, at any depth", () => {
    expect(diff('{"a":1,"b":{"c":[{"d":1,"e":2}]}}', '{"b":{"c":[{"e":2,"d":1}]},"a":1}')).toEqual([]);
  });

  test("names what was added, removed and changed by its path", () => {
    expect(diff('{"model":"a","n":1,"stop":["x"]}', '{"model":"b","stop":["x","y"],"max tokens":5}')).toEqual([
      { kind: "changed", path: "model", before: "a", after: "b" },
      { kind: "removed", path: "n", before: 1 },
      { kind: "added", path: "stop[1]", after: "y" },
      { kind: "added", path: '"max tokens"', after: 5 },
    ]);
  });

  test("one more item at the beginning of a list leaves the others equal", () => {
    const { changes, equal } = jsonDiff({ list: ["b", "c"] }, { list: ["a", "b", "c"] });
    expect(changes).toEqual([{ kind: "added", path: "list[0]", after: "a" }]);
    expect(equal.map(({ path }) => path)).toEqual(["list[1]", "list[2]"]);
  });

  test("a value that is at one other place has moved", () => {
    expect(diff('{"max_tokens":64000,"a":"long text"}', '{"max_output_tokens":64000,"b":"long text"}')).toEqual([
      { kind: "removed", path: "max_tokens", before: 64_000 },
      { kind: "moved", path: "a", to: "b", value: "long text" },
      { kind: "added", path: "max_output_tokens", after: 64_000 },
    ]);
  });

  test("numbers beyond 2^53 keep their digits", () => {
    expect(diff('{"id":9007199254740993}', '{"id":9007199254740992}')).toHaveLength(1);
    expect(shownValue(readJson('{"id":9007199254740993}'))).toBe('{\n  "id": 9007199254740993\n}');
  });

  test("what is not JSON is undefined", () => {
    expect([readJson("data: {}"), readJson('{"cut":"h')]).toEqual([undefined, undefined]);
  });

  test("no differences between equal values, and shown values read back", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(diff(text, text)).toEqual([]);
        expect(JSON.parse(shownValue(JSON.parse(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("different values have a difference", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
        const isSame = Bun.deepEquals(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(two)));
        expect(diff(JSON.stringify(one), JSON.stringify(two)).length === 0).toBe(isSame);
      }),
    );
  });
});
