import { expect, test } from "bun:test";
import { ERROR_TABLE, type ErrorKind, GatewayError } from "../../canon/error.ts";
import { effectOf } from "./health-effect.ts";

const KINDS = Object.keys(ERROR_TABLE) as ErrorKind[];
const effects = (details: object) =>
  Object.fromEntries(
    KINDS.map((kind) => [kind, effectOf(new GatewayError(kind, "it failed", details))]).filter(
      ([, effect]) => effect !== "none",
    ),
  );

test("choices 4, 8: a provider's error counts against it unless the request is at fault", () => {
  expect(effects({ failure: { status: 599 } })).toEqual({
    not_found: "failed",
    rate_limited: "limited",
    upstream_credentials: "rejected",
    upstream_unfunded: "rejected",
    upstream_failed: "failed",
    upstream_timeout: "failed",
    overloaded: "failed",
  });
});

test("a 404 of the gateway itself does not count against a provider", () => {
  expect(effects({})).not.toHaveProperty("not_found");
  expect(effects({ failure: {} })).not.toHaveProperty("not_found");
});
