import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { compileGlobs, matches } from "./model-glob.ts";

/** A slow reference implementation. */
function slowly(pattern: string, id: string): boolean {
  if (pattern === "") return id === "";
  if (pattern.startsWith("*")) return slowly(pattern.slice(1), id) || (id !== "" && slowly(pattern, id.slice(1)));
  return id !== "" && pattern[0] === id[0] && slowly(pattern.slice(1), id.slice(1));
}

describe("model globs", () => {
  test("agree with the definition on every small pattern and id", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "/", "*"), maxLength: 7 });
    const id = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 7 });
    fc.assert(
      fc.property(pattern, id, (one, other) => {
        expect(matches(one, other)).toBe(slowly(one, other));
        expect(compileGlobs(["zzz", one])(other)).toBe(slowly(one, other));
      }),
      { numRuns: 2_000 },
    );
  });

  test("S05: two fixed parts of a pattern do not match the same characters", () => {
    expect(matches("acme/*-mini*-mini", "acme/x-mini")).toBe(false);
    expect(matches("acme/*-mini*-mini", "acme/x-mini-mini")).toBe(true);
    expect(matches("acme/a*a", "acme/a")).toBe(false);
    expect(matches("acme/a*a", "acme/aa")).toBe(true);
  });

  test("characters with a meaning in regular expressions are plain", () => {
    expect(matches("acme/llama-3.3", "acme/llama-353")).toBe(false);
    expect(matches("acme/(a+)+$", "acme/aaaa")).toBe(false);
    expect(matches("acme/*.1", "acme/x.1")).toBe(true);
  });

  test("a pattern designed to be slow is fast", () => {
    const startedMs = cpuMs();
    expect(matches(`${"*a".repeat(100)}b`, "a".repeat(50_000))).toBe(false);
    expect(matches(`${"a*".repeat(100)}b*`, "a".repeat(50_000))).toBe(false);
    expect(cpuMs() - startedMs).toBeLessThan(100);
  });

  test("without patterns no model is allowed", () => {
    expect(compileGlobs([])("acme/llama")).toBe(false);
  });
});
