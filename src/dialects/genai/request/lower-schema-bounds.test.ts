import { expect, test } from "bun:test";
import { cpuMs } from "../../../base/cpu-time.sample.ts";
import { lowerSchema } from "./lower-schema.ts";

const MAX_MS = 4_000;

/** The CPU time of lowering a schema, and what was lost. */
function lower(schema: Parameters<typeof lowerSchema>[0]): { ms: number; lost: string[] } {
  const lost: string[] = [];
  const startedMs = cpuMs();
  lowerSchema(schema, (loss) => lost.push(loss));
  return { ms: cpuMs() - startedMs, lost };
}

const many = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

test("H20: an allOf that follows references without end is cut off and noted", () => {
  const chain = many(15_000, (index) => ({ allOf: [{ $ref: `#/$defs/p${index + 1}` }] }));
  const { ms, lost } = lower({ type: "object", properties: { a: { $ref: "#/$defs/p0" } }, $defs: chain });
  expect(lost).toEqual([expect.stringContaining("which cannot be resolved further")]);
  expect(ms).toBeLessThan(MAX_MS);
});

test("H20, H21: choices next to many properties, and many types next to many enum values, are lowered quickly", () => {
  const properties = many(10_000, () => ({ type: "string" }));
  const branches = Array.from({ length: 20_000 }, (_, index) => ({ required: [`p${index}`] }));
  const types = Array.from({ length: 20_000 }, (_, index) => `t${index}`);
  expect(lower({ type: "object", properties, anyOf: branches }).ms).toBeLessThan(MAX_MS);
  expect(lower({ type: types, enum: types.map((_, index) => index) }).ms).toBeLessThan(MAX_MS);
});
