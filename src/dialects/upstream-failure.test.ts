import { expect, test } from "bun:test";
import { readRetryAfter } from "../wire/http/retry-after.ts";
import { failureToError } from "./upstream-failure.ts";

const NOW = Date.parse("Sun, 06 Nov 1994 08:49:37 GMT");

test.each([
  ["7", 7],
  [" 0.5 ", 0.5],
  ["0", 0],
  ["Sun, 06 Nov 1994 08:49:59 GMT", 22],
  ["Sun, 06 Nov 1994 08:40:00 GMT", 0],
  ["Sunday, 06-Nov-94 08:49:59 GMT", 22],
  ["-3", undefined],
  ["soon", undefined],
  ["1", 1],
  ["", undefined],
  [null, undefined],
])("H19: retry-after %j", (header, seconds) => expect(readRetryAfter(header, NOW)).toBe(seconds));

test.each([
  [429, undefined, 5],
  [429, 7, 7],
  [429, 3600, 60],
  [503, 7, 7],
  [529, 0, 1],
  [503, undefined, undefined],
  [500, 7, 7],
  [400, 7, undefined],
  [401, 7, undefined],
])("H19: HTTP %d with a retry-after of %p tells the client %p", (status, reported, seconds) => {
  expect(failureToError({ status, message: "no", retryAfterSeconds: reported }).retryAfterSeconds).toBe(seconds);
});

test.each([
  "prompt is too long: 3333404 tokens > 200000 maximum",
  "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum",
  "The input token count (210000) exceeds the maximum number of tokens allowed (200000).",
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
])("R28: clients that shorten their conversation are told when by one code: %s", (message) => {
  expect(failureToError({ status: 400, message }).code).toBe("context_length_exceeded");
});

test("R28: what only speaks of tokens or of a length has no such code", () => {
  for (const message of ["max_tokens is too long", "The context is empty.", "Input is not an array."])
    expect(failureToError({ status: 400, message }).code).toBeUndefined();
});
