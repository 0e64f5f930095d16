import { describe, expect, test } from "bun:test";
import type { Turn } from "../call.ts";
import type { Part } from "../part.ts";
import { distinctCallIds } from "./distinct-call-ids.ts";

const call = (id: string, name: string): Part => ({ type: "tool-call", id, name, input: "{}" });
const result = (callId: string, text: string, name?: string): Part => ({
  type: "tool-result",
  callId,
  content: [{ type: "text", text }],
  ...(name === undefined ? {} : { name }),
});
const turn = (role: Turn["role"], ...parts: Part[]): Turn => ({ role, parts, path: "messages[0]" });

/** Calls as `name id`, results as `text id`, turn by turn. */
const idsOf = (turns: readonly Turn[]) =>
  turns.map(({ parts }) =>
    parts.map((part) => {
      if (part.type === "tool-call") return `${part.name} ${part.id}`;
      if (part.type !== "tool-result") return part.type;
      const [only] = part.content;
      return `${only?.type === "text" ? only.text : ""} ${part.callId}`;
    }),
  );

describe("mapping 4: a call and its result get the same derived id", () => {
  test("with a duplicate id in one answer, the n-th result belongs to the n-th call", () => {
    const turns = [
      turn("assistant", call("a", "f"), call("a", "g")),
      turn("user", result("a", "of f"), result("a", "of g")),
    ];
    expect(idsOf(distinctCallIds(turns))).toEqual([
      ["f a", "g a_2"],
      ["of f a", "of g a_2"],
    ]);
  });

  test("a result that names its function belongs to the call of that function", () => {
    const turns = [
      turn("assistant", call("a", "f"), call("a", "g")),
      turn("user", result("a", "of g", "g"), result("a", "of f", "f")),
    ];
    expect(idsOf(distinctCallIds(turns))[1]).toEqual(["of g a_2", "of f a"]);
  });

  test("an id can be reused in a later answer, even if the earlier call has no result", () => {
    const turns = [
      turn("assistant", call("a", "f")),
      turn("user", { type: "text", text: "never mind" }),
      turn("assistant", call("a", "g")),
      turn("user", result("a", "of g"), result("a", "of g again")),
    ];
    expect(idsOf(distinctCallIds(turns)).slice(2)).toEqual([["g a_2"], ["of g a_2", "of g again a_2"]]);
  });

  test("an answer that is returned in several turns counts as one", () => {
    const turns = [
      turn("assistant", call("a", "f")),
      turn("assistant", call("a", "f")),
      turn("user", result("a", "first")),
      turn("user", result("a", "second")),
    ];
    expect(idsOf(distinctCallIds(turns)).slice(2)).toEqual([["first a"], ["second a_2"]]);
  });

  test("generated ids are unique, and distinct ids stay unchanged", () => {
    const turns = [turn("assistant", call("a", "f"), call("a_2", "g"), call("a", "h"))];
    expect(idsOf(distinctCallIds(turns))).toEqual([["f a", "g a_2", "h a_3"]]);
    const plain = [turn("assistant", call("a", "f")), turn("user", result("a", "r"), result("unknown", "r"))];
    for (const [index, one] of distinctCallIds(plain).entries()) expect(one).toBe(plain[index] as Turn);
  });

  test("H05: generated ids stay the same when the conversation grows", () => {
    const turns = [turn("assistant", call("a", "f"), call("a", "g")), turn("user", result("a", "1"), result("a", "2"))];
    const grown = [...turns, turn("assistant", call("a", "f")), turn("user", result("a", "3"))];
    expect(distinctCallIds(grown).slice(0, 2)).toEqual(distinctCallIds(turns));
  });
});
