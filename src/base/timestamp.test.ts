import { expect, test } from "bun:test";
import { readTimestamp } from "./timestamp.ts";

test("choices 7: days that do not exist are not dates", () => {
  expect(readTimestamp("2027-01-31")).toBe(Date.UTC(2027, 0, 31));
  expect(readTimestamp("2028-02-29T12:00:00+02:00")).toBe(Date.UTC(2028, 1, 29, 10));
  for (const text of ["2027-02-31", "2027-02-29", "2027-04-31T00:00:00Z", "2027-13-01", "soon", ""]) {
    expect([text, readTimestamp(text)]).toEqual([text, undefined]);
  }
});
