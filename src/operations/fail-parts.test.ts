import { expect, test } from "bun:test";
import { failParts } from "./fail-parts.ts";
import { Bench, waitingPart } from "./process.sample.ts";

const bench = await Bench.open();
const REASON = { kind: "internal", message: "no" } as const;

test("only the given parts fail", () => {
  const operation = bench.operation({ parts: [waitingPart(), waitingPart({ state: "asking" })] });
  failParts(operation, REASON, ({ state }) => state === "asking");
  expect(operation.parts).toMatchObject([{ state: "waiting" }, { state: "failed", error: REASON }]);
  expect(operation.parts[0]?.error).toBeUndefined();
});

test("an operation without parts gets one failed part, for no video", () => {
  const operation = bench.operation({ parts: [] });
  failParts(operation, REASON, () => true);
  expect(operation.parts).toMatchObject([{ state: "failed", count: 0, error: REASON }]);
});
