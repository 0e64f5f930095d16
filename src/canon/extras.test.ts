import { expect, test } from "bun:test";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { mergeExtras } from "./extras.ts";

test("H05: extras return to their original places without changing the body or themselves", () => {
  const body = { a: 1, inner: { b: 2 } };
  const value = { c: 3 };
  const extras = [
    { keys: ["inner", "d"], value: 4 },
    { keys: ["new"], value },
    { keys: ["new", "e"], value: 5 },
    { keys: ["a", "f"], value: 6 },
    { keys: [], value: 7 },
  ];
  expect(mergeExtras(body, extras)).toEqual({ a: { f: 6 }, inner: { b: 2, d: 4 }, new: { c: 3, e: 5 } });
  expect([body, value]).toEqual([{ a: 1, inner: { b: 2 } }, { c: 3 }] as never);
});

test("H09: fields named like members of Object.prototype are ordinary fields", () => {
  const extras = [
    { keys: ["__proto__"], value: 1 },
    { keys: ["constructor", "__proto__"], value: 2 },
  ];
  expect(JSON.stringify(mergeExtras({}, extras))).toBe('{"__proto__":1,"constructor":{"__proto__":2}}');
});

test("H21: a hundred thousand extras are merged quickly", () => {
  const extras = Array.from({ length: 100_000 }, (_, index) => ({ keys: ["inner", `f${index}`], value: index }));
  const startedMs = cpuMs();
  const merged = mergeExtras({ inner: { own: true } }, extras);
  expect(Object.keys(merged["inner"] as object)).toHaveLength(100_001);
  expect(cpuMs() - startedMs).toBeLessThan(3_000);
});
