import { expect, test } from "bun:test";
import { withoutAbsent } from "./without-absent.ts";

test("undefined fields are absent; null, zero and empty text stay, in their order", () => {
  const fields = withoutAbsent({ b: 1, a: undefined, d: null, c: "", e: 0, f: false });
  expect(Object.entries<unknown>(fields)).toEqual([
    ["b", 1],
    ["d", null],
    ["c", ""],
    ["e", 0],
    ["f", false],
  ]);
});
