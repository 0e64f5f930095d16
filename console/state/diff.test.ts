import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DiffLine, diffOf, nearChanges } from "./diff.ts";
import { layOut } from "./lay-out.ts";

const side = (lines: readonly DiffLine[], other: DiffLine["kind"]) =>
  lines
    .filter(({ kind }) => kind !== other)
    .map(({ text }) => text)
    .join("\n");
const short = (lines: readonly DiffLine[]) =>
  lines.map(({ kind, text }) => ({ same: " ", removed: "-", added: "+" })[kind] + text);

describe("0064: the diff of two bodies", () => {
  test("reproduces both sides with the fewest changed lines", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "", "<b>"), { maxLength: 12 })
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffOf(before, after);
        expect(side(lines, "added")).toBe(before);
        expect(side(lines, "removed")).toBe(after);
        if (before === after) expect(lines.every(({ kind }) => kind === "same")).toBe(true);
        const changes = lines.filter(({ kind }) => kind !== "same").length;
        expect(changes).toBe(fewestChanges(before.split("\n"), after.split("\n")));
      }),
    );
  });

  test("shows changed, removed and added lines", () => {
    expect(short(diffOf("{\na\nb\nc\n}", "{\nA\nb\nd\ne\n}"))).toEqual([
      " {",
      "-a",
      "+A",
      " b",
      "-c",
      "+d",
      "+e",
      " }",
    ]);
  });

  test("two large texts with nothing in common are shown one after the other, without delay", () => {
    const lines = (word: string) => Array.from({ length: 5_000 }, (_, index) => word + index).join("\n");
    expect(diffOf(lines("a"), lines("b"))).toHaveLength(10_000);
  });

  test("lines far from any change are collapsed and counted", () => {
    const before = Array.from({ length: 20 }, (_, index) => String(index));
    const after = before.with(10, "ten");
    const shown = nearChanges(diffOf(before.join("\n"), after.join("\n")));
    expect(shown[0]).toEqual({ kind: "skipped", count: 7 });
    expect(shown.at(-1)).toEqual({ kind: "skipped", count: 6 });
    expect(shown).toHaveLength(10);
    expect(nearChanges(diffOf("a", "a"))).toEqual([{ kind: "skipped", count: 1 }]);
  });
});

/** Brute force, for short texts. */
function fewestChanges(one: readonly string[], two: readonly string[]): number {
  const known = new Map<string, number>();
  const from = (row: number, column: number): number => {
    if (row === one.length || column === two.length) return one.length - row + two.length - column;
    const place = `${row} ${column}`;
    const found = known.get(place);
    if (found !== undefined) return found;
    const fewest =
      one[row] === two[column] ? from(row + 1, column + 1) : 1 + Math.min(from(row + 1, column), from(row, column + 1));
    known.set(place, fewest);
    return fewest;
  };
  return from(0, 0);
}

describe("0064: a body laid out", () => {
  test("is the same JSON with one line per field", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const object = { value };
        expect(layOut(JSON.stringify(object))).toBe(JSON.stringify(object, undefined, 2));
        expect(layOut(JSON.stringify(object, undefined, 1))).toBe(JSON.stringify(object, undefined, 2));
      }),
    );
  });

  test("keeps numbers and strings as written, and shows truncated JSON up to its end", () => {
    expect(layOut('{"n":12345678901234567890,"f":1.0,"t":"\\u00e9\\"{","e":{},"l":[]}')).toBe(
      '{\n  "n": 12345678901234567890,\n  "f": 1.0,\n  "t": "\\u00e9\\"{",\n  "e": {},\n  "l": []\n}',
    );
    expect(layOut('{"a":[1,{"b":"cut o')).toBe('{\n  "a": [\n    1,\n    {\n      "b": "cut o');
  });

  test.each(["", "data: {}\n\n", "<html>", "plain", "}}}"])("leaves text that is not JSON unchanged: %p", (text) => {
    expect(layOut(text)).toBe(text);
  });
});
