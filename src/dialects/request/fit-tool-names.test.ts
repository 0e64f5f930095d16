import { expect, test } from "bun:test";
import type { CanonCall } from "../../canon/call.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { Notes } from "../../canon/notes.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { AnswerUnwrapper, unwrapReply } from "../answer/unwrap-answer.ts";
import { fitToolNames, plainNames } from "./fit-tool-names.ts";

const LONG = "mcp__".padEnd(90, "x");
const NAMES = ["files.read", "日本", LONG, "2nd", "plain-one"];

const CALL: CanonCall = {
  dialect: "genai",
  fieldNames: {},
  system: [],
  turns: [
    {
      role: "assistant",
      parts: [{ type: "tool-call", id: "1", name: "files.read", input: "{}" }],
      path: "contents[0]",
    },
    {
      role: "user",
      parts: [{ type: "tool-result", callId: "1", name: "files.read", content: [] }],
      path: "contents[1]",
    },
  ],
  tools: NAMES.map((name, at) => ({ type: "function", name, path: `tools[${at}]` })),
  toolChoice: { type: "allowed", mode: "any", names: [LONG, "plain-one"] },
  paths: {},
  extras: [],
};

test("names that the target rejects are replaced consistently and noted", () => {
  const rule = plainNames(64);
  const notes = new Notes();
  const { call, reading } = fitToolNames(CALL, rule, notes);
  const names = call.tools.map((tool) => ("name" in tool ? tool.name : ""));
  for (const name of names) expect(name).toMatch(rule.pattern);
  expect(new Set(names).size).toBe(NAMES.length);
  expect(names.slice(3)).toEqual(["2nd", "plain-one"]);
  const [call1, result] = call.turns.flatMap(({ parts }) => parts);
  expect([call1, result].map((part) => part && "name" in part && part.name)).toEqual([names[0] ?? "", names[0] ?? ""]);
  expect(call.toolChoice).toMatchObject({ names: [names[2], "plain-one"] });
  expect(notes.list.map(({ path }) => path)).toEqual(["tools[0]", "tools[1]", "tools[2]"]);
  expect(Object.values(reading.toolNames ?? {}).sort()).toEqual([...NAMES.slice(0, 3)].sort());
});

test("a rule may require a leading letter", () => {
  const rule = { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/, foreign: /[^a-zA-Z0-9_.:-]/g, longest: 128 };
  const { call } = fitToolNames(CALL, rule, new Notes());
  for (const tool of call.tools) expect("name" in tool && tool.name).toMatch(rule.pattern);
  expect(call.tools[0]).toMatchObject({ name: "files.read" });
});

test("a call whose names are valid is returned unchanged", () => {
  const legal = { ...CALL, turns: [], tools: [], toolChoice: { type: "auto" } as const };
  expect(fitToolNames(legal, plainNames(64), new Notes())).toEqual({ call: legal, reading: {} });
});

test("calls in the response get the client's names back, complete and streamed", () => {
  const { call, reading } = fitToolNames(CALL, plainNames(64), new Notes());
  const [first] = call.tools;
  const name = first !== undefined && "name" in first ? first.name : "";
  const reply: CanonReply = {
    parts: [{ type: "tool-call", id: "2", name, input: "{}" }],
    stop: { unified: "tool", raw: "tool_calls" },
  };
  expect(unwrapReply(reply, reading).parts).toEqual([{ type: "tool-call", id: "2", name: "files.read", input: "{}" }]);
  const start: CanonEvent = { type: "tool-input-start", block: 0, id: "2", name };
  expect(new AnswerUnwrapper(reading).push(start)).toEqual([{ ...start, name: "files.read" }]);
  expect(new AnswerUnwrapper({ ...reading, structuredTool: "answer" }).push(start)).toEqual([
    { ...start, name: "files.read" },
  ]);
});
