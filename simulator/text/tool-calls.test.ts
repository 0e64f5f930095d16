import { describe, expect, test } from "bun:test";
import { Seed } from "../seed.ts";
import { emptyPrompt } from "./adapter.ts";
import type { Prompt, Tool } from "./prompt.ts";
import { planCalls } from "./tool-calls.ts";

const tool = (name: string): Tool => ({ name, description: "", schema: { type: "object" }, freeform: false });

/** What a coding agent declares, and two tools of an application. */
const TOOLS = ["Bash", "Edit", "Write", "Read", "Task", "apply_patch", "get_weather", "get_time"].map(tool);

function called(text: string, changes: Partial<Prompt> = {}): string[] {
  const turn = { role: "user" as const, parts: [{ type: "text" as const, text }] };
  const prompt: Prompt = { ...emptyPrompt(), turns: [turn], tools: TOOLS, parallel: true, ...changes };
  return planCalls(prompt, new Seed("calls"), false).map(({ name }) => name);
}

describe("the simulator calls a tool when the prompt asks for one", () => {
  test.each([
    ["Use get_weather for Paris.", ["get_weather"]],
    ["What does get_time say?", ["get_time"]],
    ["Call get_weather and get_time in parallel for Lisbon.", ["get_weather", "get_time"]],
    ["Use the Read tool on notes.txt", ["Read"]],
    ["use your tools", ["Read"]],
  ])("%s", (text, names) => {
    expect(called(text)).toEqual(names);
  });

  test.each([
    "Hello, who are you?",
    "Read this and edit it. Write what you think of the task.",
    "Hi\n<system-reminder>Use the Read tool before you call Edit. Use get_weather.</system-reminder>",
  ])("and otherwise it does not: %s", (text) => {
    expect(called(text)).toEqual([]);
  });

  test.each([
    "Use Bash to list the files",
    "Call the Write tool",
    "Use apply_patch on notes.txt",
    "Run Edit on a file",
  ])("never one that writes: %s", (text) => {
    expect(called(text)).toEqual([]);
  });

  test("unless the request forces it", () => {
    expect(called("Hello", { choice: { mode: "required", names: ["Write"] } })).toEqual(["Write"]);
  });
});
