import { expect, test } from "bun:test";
import { textWeight, weigh } from "./text-weight.ts";

test.each([
  ["", 0],
  ["English", 7],
  ["中文", 8],
  ["日本語です", 20],
  ["한국어", 12],
  ["été", 3 + 2 * 1.5],
])("H26: what %p weighs in an estimate", (text, weight) => {
  expect(textWeight(text)).toBe(weight);
  expect(weigh(text.length, Buffer.byteLength(text))).toBe(weight);
});
