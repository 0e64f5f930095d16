import { expect, test } from "bun:test";
import { LONG_CONTEXT, reportTerms } from "./terms.ts";

const served = (
  terms: readonly string[],
  ...words: Parameters<typeof reportTerms> extends [unknown, ...infer W] ? W : never
) => {
  const on = { terms };
  reportTerms(on, ...words);
  return on.terms;
};

test("H34: the terms on which a response was served replace the requested ones", () => {
  expect(served(["flex"], "priority")).toEqual(["priority"]);
  expect(served(["flex"], "standard")).toEqual([]);
  expect(served(["flex"], undefined)).toEqual(["flex"]);
  expect(served([LONG_CONTEXT], "priority", undefined, "us")).toEqual([LONG_CONTEXT, "priority", "geo-us"]);
});

test("two fields that name the same term count once, so its multiplier applies once", () => {
  expect(served([], "priority", "ON_DEMAND_PRIORITY")).toEqual(["priority"]);
  expect(served([], "PRIORITY", "priority")).toEqual(["priority"]);
  expect(served([], "flex", "ON_DEMAND_PRIORITY")).toEqual(["flex", "priority"]);
});
