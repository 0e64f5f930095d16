import { describe, expect, test } from "bun:test";
import { withoutAbsent } from "../base/without-absent.ts";
import { CallTrace, IdPool, readTraceParent } from "./trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const read = (traceparent: string, tracestate?: string) =>
  readTraceParent(new Headers({ traceparent, ...withoutAbsent({ tracestate }) }));

describe("W3C trace context", () => {
  test("a parent is read, and whether it keeps the trace", () => {
    expect(read(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true, state: undefined });
    expect(read(`00-${TRACE}-${SPAN}-00`)?.sampled).toBe(false);
    expect(read(`00-${TRACE}-${SPAN}-03`)?.sampled).toBe(true);
  });

  test("the first four fields of a later version are read", () => {
    expect(read(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`)?.traceId).toBe(TRACE);
  });

  test.each([
    "",
    "garbage",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-zz`,
    `00-${TRACE}-${SPAN}-01${"x".repeat(10_000)}`,
  ])("an invalid header begins a new trace: %p", (given) => {
    expect(read(given, "other=1")).toBeUndefined();
  });

  test("the state of other vendors is passed on unchanged, within limits", () => {
    expect(read(`00-${TRACE}-${SPAN}-01`, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")?.state).toBe(
      "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
    );
    expect(read(`00-${TRACE}-${SPAN}-01`, `a=${"x".repeat(600)}`)?.state).toBeUndefined();
    expect(read(`00-${TRACE}-${SPAN}-01`, Array(40).fill("a=1").join(","))?.state).toBeUndefined();
  });

  test("a provider receives its own span, the same on every request for it", () => {
    const ids = new IdPool({ bytes: (length) => Uint8Array.from({ length }, (_, at) => at) });
    const trace = new CallTrace(ids, read(`00-${TRACE}-${SPAN}-01`, "a=1"));
    const attempt = {};
    const lines = trace.linesFor(attempt, true);
    expect(lines).toBe(`traceparent: 00-${TRACE}-${trace.spanOf(attempt)}-01\r\ntracestate: a=1\r\n`);
    expect(trace.linesFor(attempt, true)).toBe(lines);
    expect(trace.spanOf({})).not.toBe(trace.spanOf(attempt));
    expect(trace.spanId).not.toBe(trace.spanOf(attempt));
  });

  test("S07: incoming headers cannot add a line to a request", () => {
    const ids = new IdPool({ bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) });
    const parent = { traceId: TRACE, spanId: SPAN, sampled: true, state: undefined };
    expect(new CallTrace(ids, parent).linesFor({}, false)).toMatch(/^traceparent: .*-00\r\n$/);
    for (const hostile of ["a=1\r\nx-other: 1", "a=\u00e9", "a=\0", "a=1\n"]) {
      expect(new CallTrace(ids, { ...parent, state: hostile }).linesFor({}, true)).toBe("");
      expect(new CallTrace(ids, { ...parent, traceId: hostile }).linesFor({}, true)).toBe("");
      expect(new CallTrace(ids, undefined, { traceId: hostile, spanId: SPAN }).linesFor({}, true)).toBe("");
    }
  });

  test("an id of zeros is never made", () => {
    const trace = new CallTrace(new IdPool({ bytes: (length) => new Uint8Array(length) }), undefined);
    expect(trace.traceId).toBe(`${"0".repeat(30)}01`);
    expect(trace.spanId).toBe(`${"0".repeat(14)}01`);
  });
});
