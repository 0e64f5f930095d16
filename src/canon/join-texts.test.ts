import { describe, expect, test } from "bun:test";
import type { CanonCall, Turn } from "./call.ts";
import { joinTexts } from "./join-texts.ts";
import type { Part } from "./part.ts";

const say = (text: string, more: object = {}): Part => ({ type: "text", text, ...more });
const callOf = (...turns: Turn[]): CanonCall => ({
  dialect: "genai",
  fieldNames: {},
  system: [],
  turns,
  tools: [],
  paths: {},
  extras: [],
});
let count = 0;
const model = (...parts: Part[]): Turn => ({ role: "assistant", parts, path: `t${count++}` });
const user = (...parts: Part[]): Turn => ({ role: "user", parts, path: `t${count++}` });
const textsOf = (call: CanonCall) =>
  call.turns.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : part.type)));

describe("contract 2.6: whitespace between words is kept, although hosts reject whitespace-only texts", () => {
  test("across one message per stream chunk", () => {
    const call = callOf(user(say("Go.")), model(say("for x in y:")), model(say("\n    ")), model(say("print(x)")));
    expect(textsOf(joinTexts(call))).toEqual([["Go."], ["for x in y:\n    "], [], ["print(x)"]]);
    expect(textsOf(call)).toEqual([["Go."], ["for x in y:"], ["\n    "], ["print(x)"]]);
  });

  test("in one turn, on either side, and across empty texts", () => {
    expect(textsOf(joinTexts(callOf(user(say("\n"), say("a"), say(""), say("  "), say("b")))))).toEqual([
      ["\na  ", "", "b"],
    ]);
  });

  test("not across another role, another part, a mark, or citations", () => {
    const other: Part = { type: "tool-call", id: "1", name: "f", input: "{}" };
    const cited = say("c", { citations: [{ type: "web", url: "https://a.example", citedText: "c" }] });
    for (const call of [
      callOf(user(say("a")), model(say("\n")), user(say("b"))),
      callOf(model(say("a"), other, say(" "), other, say("b"))),
      callOf(model(cited, say(" "))),
      callOf(user(say(" ", { cache: {} }), say("b"))),
      callOf({ ...user(say("a")), name: "ann" }, { ...user(say(" ")), name: "bob" }),
      callOf(user(say("a"), say("b"))),
    ])
      expect(joinTexts(call)).toBe(call);
  });

  test("H04: a mark after whitespace moves to the end of the preceding words", () => {
    const [turn] = joinTexts(
      callOf(user(say("a", { path: "p" }), say("\n", { path: "q", cache: { ttl: "1h" } }))),
    ).turns;
    expect(turn?.parts).toEqual([{ type: "text", text: "a\n", path: "p", cache: { ttl: "1h" } }]);
  });
});
