import { expect, test } from "bun:test";
import { decodeStop, encodeStop } from "./stop-reason.ts";

test.each([
  ["STOP", "stop"],
  ["FINISH_REASON_MAX_TOKENS", "length"],
  ["ESCALATION", "filter"],
  ["PUP_LIMITED_DISABLED", "filter"],
  ["A_NEW_REASON", "other"],
] as const)("contract 2.13: %s means %s in other protocols", (raw, unified) => {
  expect(decodeStop(raw)).toEqual({ unified, raw });
});

test("a reason of this protocol is returned in its own words", () => {
  expect(encodeStop(decodeStop("ESCALATION"), true)).toBe("ESCALATION");
  expect(encodeStop(decodeStop("ESCALATION"), false)).toBe("FINISH_REASON_ESCALATION");
  expect(encodeStop({ unified: "filter", raw: "content_filter" }, true)).toBe("SAFETY");
});
