import { expect, test } from "bun:test";
import { connectionFailure, errnoOf } from "./connection-failure.ts";

const coded = (code: unknown, cause?: unknown) => Object.assign(new Error("it failed", { cause }), { code });

test("a host that cannot be reached and one that breaks off get different messages, for the client and for the operator", () => {
  const refused = connectionFailure("connect", coded("ECONNREFUSED"));
  expect([refused.kind, refused.message]).toEqual([
    "upstream_failed",
    "The provider could not be reached (connection refused).",
  ]);
  expect(refused.failure).toEqual({ errno: "ECONNREFUSED" });
  const broken = connectionFailure("broken", new Error("no word for it"));
  expect([broken.message, broken.failure]).toEqual(["The provider closed the connection.", {}]);
});

test("the system's error code is found in nested errors, up to a limit", () => {
  const beneath = (depth: number): Error =>
    depth === 0 ? coded("ECONNRESET") : new Error("wrapped", { cause: beneath(depth - 1) });
  expect([0, 1, 3, 4].map((depth) => errnoOf(beneath(depth)))).toEqual([
    "ECONNRESET",
    "ECONNRESET",
    "ECONNRESET",
    undefined,
  ]);
  expect(errnoOf(coded("", coded("EPIPE")))).toBe("EPIPE");
  expect(errnoOf(coded(7))).toBeUndefined();
  expect(errnoOf("ECONNRESET")).toBeUndefined();
});
