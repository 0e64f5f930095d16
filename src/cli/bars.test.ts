import { expect, test } from "bun:test";
import { bars } from "./bars.ts";

test("a bar is proportional to the largest value, in eighths of a cell; the smallest is still visible", () => {
  expect(bars([8, 4, 1, 0.0001, 0, -3], 4)).toEqual(["████", "██", "▌", "▏", "", ""]);
  expect(bars([0, 0], 4)).toEqual(["", ""]);
  expect(bars([], 4)).toEqual([]);
});
