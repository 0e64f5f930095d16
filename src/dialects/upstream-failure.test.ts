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
