import { expect, test } from "bun:test";
import { holdsMoreItems } from "./json-items.ts";

const NONE: ReadonlySet<string> = new Set();
const ARGS: ReadonlySet<string> = new Set(["args"]);

test.each([
  ["objects and lists in lists", '{"a":[{},{"b":[[]]},1,"[{"]}', NONE, 3],
  ["a list at the top", "[{},{}]", NONE, 2],
  ["objects in members are not items", '{"a":{"b":{"c":{}}}}', NONE, 0],
  ["what is in some members does not count", '{"args":[{},{}],"a":[{}]}', ARGS, 1],
  ["nor what is deeper in them", '{"x":{"args" : {"a":[{},[{}]],"b":[{}]}},"a":[{}]}', ARGS, 1],
  ["a value of that name is no member", '{"a":["args",{},{}]}', ARGS, 2],
  ["brackets in strings are text", '{"a":["\\"[{},{","]"]}', NONE, 0],
] as const)("S18: items are counted without parsing: %s", (_name, text, uncounted, items) => {
  expect(holdsMoreItems(text, items, uncounted)).toBe(false);
  if (items > 0) expect(holdsMoreItems(text, items - 1, uncounted)).toBe(true);
});
