import { expect, test } from "bun:test";
import type { Receipt } from "../canon/receipt.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { isChosen, isInRatio, isKept } from "./sampling.ts";
import type { TraceParent } from "./trace-context.ts";

const SAMPLING = { ratio: 0, slowMs: 30_000 };
const TRACE = "f".repeat(32);
const plain = (changes: Partial<Receipt> = {}): Receipt => {
  const { continued: _, ...receipt } = sampleReceipt({
    offers: [{ provider: "one", outcome: "answered", ms: 1 }],
    ...changes,
  });
  return receipt;
};
const parent = (sampled: boolean) => ({ traceId: TRACE, spanId: "b".repeat(16), sampled, state: undefined });
const traceWith = (of?: TraceParent) => ({ traceId: TRACE, parent: of, chosen: undefined });

test("failures, fallbacks and slow calls are always kept", () => {
  expect(isKept(plain(), traceWith(), SAMPLING)).toBe(false);
  expect(isKept(plain({ outcome: "upstream_failed" }), traceWith(parent(false)), SAMPLING)).toBe(true);
  expect(isKept(plain({ totalMs: 30_000 }), traceWith(parent(false)), SAMPLING)).toBe(true);
  expect(isKept(sampleReceipt(), traceWith(parent(false)), SAMPLING)).toBe(true);
  expect(isKept(plain({ outcome: "invalid_request" }), traceWith(), SAMPLING)).toBe(false);
});

test("otherwise the parent decides, else the ratio", () => {
  expect(isKept(plain(), traceWith(parent(true)), SAMPLING)).toBe(true);
  expect(isKept(plain(), traceWith(parent(false)), { ...SAMPLING, ratio: 1 })).toBe(false);
  expect(isKept(plain(), traceWith(), { ...SAMPLING, ratio: 1 })).toBe(true);
});

test("the decision that was sent to a provider does not change", () => {
  const trace = { ...traceWith(), traceId: "0".repeat(32) };
  expect(isChosen(trace, { ...SAMPLING, ratio: 0.5 })).toBe(true);
  expect(isKept(plain(), trace, SAMPLING)).toBe(true);
});

test("the ratio depends only on the trace id, so that instances agree", () => {
  const ids = Array.from({ length: 2_000 }, (_, at) => Bun.hash(String(at)).toString(16).padStart(16, "0").repeat(2));
  const kept = ids.filter((id) => isInRatio(id, 0.1)).length;
  expect(kept).toBeGreaterThan(140);
  expect(kept).toBeLessThan(260);
  expect(ids.filter((id) => isInRatio(id, 0))).toEqual([]);
});
