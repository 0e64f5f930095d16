import { expect, test } from "bun:test";
import { SealedOrigins } from "./sealed-origins.ts";

test("decision 0011: the latest values are recognised by their ends, up to a limit", () => {
  const sealed = new SealedOrigins(2);
  sealed.learn("one", "x-ai");
  sealed.learn("two", "responses");
  sealed.learn("one", "azure-openai");
  sealed.learn("three", "x-ai");
  expect(["one", "two", "three", "four"].map((value) => sealed.originOf(value))).toEqual([
    "azure-openai",
    undefined,
    "x-ai",
    undefined,
  ]);
});
