import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { FieldRefusal } from "../../media/refuse-field.ts";
import { inClientWords } from "./client-words.ts";

const PATHS = { count: "n", prompt: "prompt" };
const shown = ({ message, path, code, kind }: GatewayError) => ({ kind, message, path, code });

describe("an error names the client's own field", () => {
  test("a field that the gateway refuses is named before the reason, once", () => {
    const refused = new FieldRefusal("invalid_request", "at most 10", { path: "count" });
    const named = inClientWords(refused, PATHS);
    expect(shown(named)).toMatchObject({ path: "n", message: "n: at most 10" });
    const already = new FieldRefusal("invalid_request", "n: at most 10", { path: "count" });
    expect(inClientWords(already, PATHS).message).toBe("n: at most 10");
  });

  test("a provider's own words stay as they are", () => {
    const theirs = new GatewayError("invalid_request", "n is too large", { path: "count", code: "invalid_value" });
    expect(shown(inClientWords(theirs, PATHS))).toEqual({
      kind: "invalid_request",
      message: "n is too large",
      path: "n",
      code: "invalid_value",
    });
  });

  test("a path without a client field is returned unchanged; so is an error without a path", () => {
    const other = new GatewayError("invalid_request", "no such field", { path: "style" });
    expect(inClientWords(other, PATHS).path).toBe("style");
    const plain = new GatewayError("upstream_failed", "broken");
    expect(inClientWords(plain, PATHS)).toBe(plain);
  });

  test("contract 7: blocked content has the protocol's code instead of the host's", () => {
    const blocked = { code: "moderation_blocked" };
    const named = inClientWords(new GatewayError("content_blocked", "no", { ...blocked, path: "prompt" }), PATHS);
    expect(shown(named)).toEqual({ kind: "content_blocked", message: "no", path: "prompt", code: undefined });
    const plain = inClientWords(new GatewayError("content_blocked", "no", blocked), PATHS);
    expect(shown(plain)).toEqual({ kind: "content_blocked", message: "no", path: undefined, code: undefined });
  });
});
