import { expect, test } from "bun:test";
import { Fields } from "./fields.ts";

test("H09: unread fields are left over in the client's order, and null means absent", () => {
  const fields = new Fields({ z: 1, text: "a", wrong: 5, gone: null, model: "m", a: [] });
  expect(fields.string("text")).toBe("a");
  expect(fields.string("wrong")).toBeUndefined();
  expect(fields.string("absent")).toBeUndefined();
  fields.skip("model");
  expect(Object.entries(fields.rest() ?? {})).toEqual([
    ["z", 1],
    ["wrong", 5],
    ["a", []],
  ]);
});

test("returns undefined when nothing is left", () => {
  expect(new Fields({}).rest()).toBeUndefined();
  expect(new Fields("no object").rest()).toBeUndefined();
});
