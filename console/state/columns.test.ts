import { expect, test } from "bun:test";
import { COLUMNS, readHidden } from "./columns.ts";

test("console-notes 4.1: what a browser has kept of hidden columns is read; words that are none are no columns", () => {
  expect([...readHidden("cost  key nothing <b>")]).toEqual(["key", "cost"]);
  expect([...readHidden(null)]).toEqual([]);
  expect([...readHidden(COLUMNS.join(" "))]).toEqual([...COLUMNS]);
});
