import type { Seed } from "../seed.ts";
import { type Call, findHands } from "./agent-hands.ts";
import type { Segment } from "./plan.ts";
import { type Prompt, type PromptPart, type Tool, textOf } from "./prompt.ts";
import { inputFor } from "./tool-calls.ts";

/** What the agent can do: "Read the file a.txt and write its content in upper case to b.txt". */
const TASK = /\bread\b[^\n]*?([\w~./-]*[\w-]\.\w+)[^\n]*?\bwrite\b[^\n]*?([\w~./-]*[\w-]\.\w+)/i;
/** And "Call the tool close_agent". */
const NAMED_TOOL = /\bcall the tool ([\w-]+)/i;
/** Agents add words of their own to what a tool has said. */
const REMARK = /<system-reminder>[\s\S]*?<\/system-reminder>/g;
const LINE_NUMBER = /^\s*\d+(?:→|\t|: |$)/;
/** Some put the file into tags, with a note of its length. */
const TAGGED = /<content>\n([\s\S]*?)\n<\/content>/;
/** A shell's output comes after what was noted of the program's run. */
const SHELL_NOTE = /^(?:[A-Z][^\n]*\n)*?Output:\n/;
const SHELL_FAILED = /^(?:[^\n]*\n)*?(?:Process exited with code|Exit code:) [1-9]/;
const END_NOTE = /\n+\(End of file[^\n]*\)$/;

/** What the file holds, without the numbers that some agents put before its lines. */
function fileText(result: string): string {
  const [, tagged = result.replace(SHELL_NOTE, "")] = TAGGED.exec(result) ?? [];
  const lines = tagged
    .replace(REMARK, "")
    .replace(END_NOTE, "")
    .replace(/^\n+|\n+$/g, "")
    .split("\n");
  return (
    lines.every((line) => LINE_NUMBER.test(line)) ? lines.map((line) => line.replace(LINE_NUMBER, "")) : lines
  ).join("\n");
}

/**
 * The next step of the task, for models that play one for coding agents: reads a file, writes another, and says so; or calls
 * the tool that it is asked to call. `undefined` where there is no such task, or no tools for it.
 */
export function agentSteps(prompt: Prompt, seed: Seed): Segment[] | undefined {
  const begin = prompt.turns.findLastIndex((turn) => turn.role === "user" && isTask(textOf(turn)));
  const asked = textOf(prompt.turns[begin]);
  const since = prompt.turns.slice(begin).flatMap((turn) => turn.parts);
  const results = since.filter((part): part is Result => part.type === "result");
  const [, source, target] = TASK.exec(asked) ?? [];
  if (source !== undefined && target !== undefined) return fileSteps(source, target, results, prompt.tools);
  return callSteps(NAMED_TOOL.exec(asked)?.[1] ?? "", results, prompt.tools, seed);
}

const isTask = (text: string): boolean => TASK.test(text) || NAMED_TOOL.test(text);
const call = (one: Call): Segment[] => [{ type: "call", ordinal: 0, ...one }];
const say = (text: string): Segment[] => [{ type: "text", spans: [{ text }] }];

type Result = PromptPart & { type: "result" };

function fileSteps(source: string, target: string, results: Result[], tools: Tool[]): Segment[] | undefined {
  const hands = findHands(tools);
  if (hands === undefined) return undefined;
  const last = results.at(-1);
  if (last === undefined) return call(hands.read(source));
  if (last.failed || SHELL_FAILED.test(last.text)) return say(`The simulator's agent gives up: ${last.text}`);
  if (results.length > 1) return say(`Done: ${target} holds ${source} in upper case.`);
  return call(hands.write(target, fileText(last.text).toUpperCase()));
}

/** Where a protocol has no namespaces, the name of a tool ends as it is called in its own. */
function callSteps(name: string, results: Result[], tools: Tool[], seed: Seed): Segment[] | undefined {
  const tool = tools.find((one) => one.name === name || one.name.endsWith(`__${name}`));
  if (tool === undefined) return undefined;
  const last = results.at(-1);
  if (last !== undefined) return say(`Done: ${name} answered “${last.text}”.`);
  return call({ name: tool.name, input: inputFor(tool, seed, []), freeform: tool.freeform });
}
