import { describe, expect, test } from "bun:test";
import { GatewayError } from "./error.ts";

describe("GatewayError", () => {
  class OwnError extends GatewayError {}
  const cause = new Error("why");
  const error = new OwnError("rate_limited", "m", { path: "p", code: "c", retryAfterSeconds: 7, cause });

  test("a changed message keeps the error's kind, details and class", () => {
    for (const other of [error.withMessage("n"), error.withPath("q"), error.withTexts((text) => `${text}!`)]) {
      expect(other).toBeInstanceOf(OwnError);
      expect(other).toMatchObject({ kind: "rate_limited", retryAfterSeconds: 7, cause });
    }
    expect(error.withMessage("n")).toMatchObject({ message: "n", path: "p", code: "c" });
    expect(error.withPath("q")).toMatchObject({ message: "m", path: "q", code: "c" });
  });

  test("S10: every text a caller may read can be replaced, at any depth, and nothing else changes", () => {
    const upstreamDetails = JSON.parse('{"a":["b",1,null,true,{"__proto__":{"c":"d"}}]}') as unknown;
    const whole = new GatewayError("invalid_request", "m", { path: "p", code: "c", upstreamDetails });
    const changed = whole.withTexts((text) => `${text}!`);
    expect(changed).toMatchObject({ message: "m!", path: "p!", code: "c!" });
    expect(JSON.stringify(changed.upstreamDetails)).toBe('{"a!":["b!",1,null,true,{"__proto__!":{"c!":"d!"}}]}');
    const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown;
    const cut = new GatewayError("invalid_request", "m", { upstreamDetails: deep }).withTexts((text) => text);
    expect(JSON.stringify(cut.upstreamDetails)).toBe(`${"[".repeat(64)}null${"]".repeat(64)}`);
    const bare = new GatewayError("invalid_request", "m").withTexts((text) => `${text}!`);
    expect([bare.message, bare.path, bare.code, bare.upstreamDetails]).toEqual(["m!", undefined, undefined, undefined]);
  });
});
