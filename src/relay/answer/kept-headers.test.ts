import { expect, test } from "bun:test";
import fc from "fast-check";
import { KeptHeaders } from "./kept-headers.ts";

const NAMES = ["content-type", "x-request-id", "request-id", "x-trivium-receipt", "x-ratelimit-limit-requests", "x-a"];
const value = fc.constantFrom("", "0", "60s", "application/json", "req_1", "req_2");
const record = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...NAMES)),
    fc.array(value, { minLength: NAMES.length, maxLength: NAMES.length }),
  )
  .map(([names, values]) => Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])));

test("S10: responses in any order have their own headers and no others", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 60 }), (records) => {
      const kept = new KeptHeaders();
      const answers = records.map((one) => new Response("", { headers: kept.of(one) }));
      for (const [index, answer] of answers.entries()) {
        expect([...answer.headers]).toEqual([...new Headers(records[index])]);
      }
    }),
  );
});

test("S10: a value that no header can have is rejected, and the next answer has its own", () => {
  const kept = new KeptHeaders();
  kept.of({ "x-a": "one", "x-b": "one" });
  expect(() => kept.of({ "x-a": "two", "x-b": "a\r\nb" })).toThrow();
  expect([...kept.of({ "x-a": "one", "x-b": "one" })]).toEqual([
    ["x-a", "one"],
    ["x-b", "one"],
  ]);
});
