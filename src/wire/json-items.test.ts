import { expect, test } from "bun:test";
import { holdsMoreItems } from "./json-items.ts";

const NONE: ReadonlySet<string> = new Set();
const ARGS: ReadonlySet<string> = new Set(["args"]);

test.each([
  ["objects and arrays in arrays", '{"a":[{},{"b":[[]]},1,"[{"]}', NONE, 3],
  ["an array at the top", "[{},{}]", NONE, 2],
  ["objects in members are not items", '{"a":{"b":{"c":{}}}}', NONE, 0],
  ["values in uncounted members do not count", '{"args":[{},{}],"a":[{}]}', ARGS, 1],
  ["nor do nested values in them", '{"x":{"args" : {"a":[{},[{}]],"b":[{}]}},"a":[{}]}', ARGS, 1],
  ["a string with that name is not a member", '{"a":["args",{},{}]}', ARGS, 2],
  ["brackets in strings are text", '{"a":["\\"[{},{","]"]}', NONE, 0],
] as const)("S18: items are counted without parsing: %s", (_name, text, uncounted, items) => {
  expect(holdsMoreItems(text, items, uncounted)).toBe(false);
  if (items > 0) expect(holdsMoreItems(text, items - 1, uncounted)).toBe(true);
});
