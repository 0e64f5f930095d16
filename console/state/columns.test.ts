import { expect, test } from "bun:test";
import { COLUMNS, readHidden } from "./columns.ts";

test("console-notes 4.1: reads the hidden columns that the browser stored, and ignores unknown names", () => {
  expect([...readHidden("cost  key nothing <b>")]).toEqual(["key", "cost"]);
  expect([...readHidden("none")]).toEqual([]);
  expect([...readHidden(null)]).toEqual(["dialect", "remarks"]);
  expect([...readHidden(COLUMNS.join(" "))]).toEqual([...COLUMNS]);
});
