import { expect, test } from "bun:test";
import { ApiError } from "../api/api-error.ts";
import { mayPass, pauseAfter, retryWords } from "./retry.ts";

test("pauses between attempts grow to a minute", () => {
  expect([1, 2, 3, 4, 5, 6, 50].map(pauseAfter)).toEqual([2, 4, 8, 16, 32, 60, 60]);
  expect([2, 0].map(retryWords)).toEqual(["Trying again in 2 s.", "Trying again…"]);
});

test("only a 503 of the gateway is tried again", () => {
  const of = (status: number) => mayPass(new ApiError(status, "", ""));
  // Status 0 and a proxy's 502 are outages, which the probe ends.
  expect([503, 0, 502, 400, 401, 404, 500].filter(of)).toEqual([503]);
  expect([mayPass(undefined), mayPass(new Error("no JSON"))]).toEqual([false, false]);
});
