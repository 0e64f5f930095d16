import { expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { failureOf, nothingMade } from "./image-failures.ts";

const broken = new GatewayError("upstream_failed", "broken");

test("an image that failed has the provider's error, one that moderation blocked its reason", () => {
  expect(failureOf({ kind: "failed", error: broken })).toBe(broken);
  expect(failureOf({ kind: "filtered", reason: "not this" })).toMatchObject({
    kind: "content_blocked",
    message: "not this",
  });
});

test("the first reason is returned for all; without one, the response contained no image", () => {
  expect(nothingMade([{ kind: "failed", error: broken }])).toBe(broken);
  expect(
    nothingMade([
      { kind: "filtered", reason: "not this" },
      { kind: "failed", error: broken },
    ]),
  ).toMatchObject({
    kind: "content_blocked",
  });
  expect(nothingMade([])).toMatchObject({ kind: "upstream_failed", message: expect.stringContaining("no image") });
  const image = { mimeType: "image/png", base64: "iVBORw==" };
  expect(nothingMade([{ kind: "made", image }])).toMatchObject({ kind: "upstream_failed" });
});
