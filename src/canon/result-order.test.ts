import { expect, test } from "bun:test";
import type { Turn } from "./call.ts";
import type { Part } from "./part.ts";
import { resultsInCallOrder } from "./result-order.ts";

const call = (id: string): Part => ({ type: "tool-call", id, name: "f", input: "{}" });
const result = (callId: string): Part => ({ type: "tool-result", callId, content: [] });
const text: Part = { type: "text", text: "and" };
const turn = (role: Turn["role"], parts: Part[]): Turn => ({ role, parts, path: "t" });
const idsOf = ({ parts }: Turn) => parts.map((part) => (part.type === "tool-result" ? part.callId : part.type));

test("mapping 5: results are in the order of their calls, nothing else moves, and results without a call come last", () => {
  const turns = [
    turn("assistant", [call("a"), call("b"), call("c")]),
    turn("user", [result("x"), result("c"), text, result("a"), result("b")]),
  ];
  const [, ordered] = resultsInCallOrder(turns);
  expect(ordered && idsOf(ordered)).toEqual(["a", "b", "text", "c", "x"]);
});

test("returns the same turns if the results are already in order", () => {
  const turns = [turn("assistant", [call("a"), call("b")]), turn("user", [result("a"), result("b")])];
  expect(resultsInCallOrder(turns)[1]).toBe(turns[1] as Turn);
});
