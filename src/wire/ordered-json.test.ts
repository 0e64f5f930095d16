import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseInOrder, stringifyInOrder } from "./ordered-json.ts";

test("H05: keys that look like array indices keep their order", () => {
  const text = '{"b":1,"10":{"2":[],"a":0,"1":"3"},"9":null,"c":{"x\\"7":1,"7":2}}';
  expect(stringifyInOrder(parseInOrder(text))).toBe(text);
  expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
});

test("H05: text inside strings stays as it is, quotes, colons and all", () => {
  const text = JSON.stringify({ "5": 'say "7": "8"', note: '{"1":2}', "3\\": '"4": ' });
  expect(parseInOrder(stringifyInOrder(parseInOrder(text)))).toEqual(parseInOrder(text));
  expect(JSON.parse(stringifyInOrder(parseInOrder(text)))).toEqual(JSON.parse(text));
});

test("H05: any JSON means the same after the round trip", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(stringifyInOrder(parseInOrder(text)))).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
    }),
  );
});
