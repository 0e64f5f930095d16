import type { Seed } from "../seed.ts";
import { type Call, findHands } from "./agent-hands.ts";
import type { Segment } from "./plan.ts";
import { type Prompt, type PromptPart, type Tool, textOf } from "./prompt.ts";
import { inputFor } from "./tool-calls.ts";

/** What the agent can do: "Read the file a.txt and write its content in upper case to b.txt". */
const TASK = /\bread\b[^\n]*?([\w~./-]*[\w-]\.\w+)[^\n]*?\bwrite\b[^\n]*?([\w~./-]*[\w-]\.\w+)/i;
/** And "Read the files a.txt and b.txt in parallel and write their content in upper case to c.txt". */
const TASK_OF_TWO =
  /\bread the files ([\w~./-]*[\w-]\.\w+) and ([\w~./-]*[\w-]\.\w+) in parallel\b[^\n]*?\bwrite\b[^\n]*?([\w~./-]*[\w-]\.\w+)/i;
/** And "Call the tool close_agent". */
const NAMED_TOOL = /\bcall the tool ([\w-]+)/i;
/** Agents add their own text to tool results. */
const REMARK = /<system-reminder>[\s\S]*?<\/system-reminder>/g;
const LINE_NUMBER = /^\s*\d+(?:→|\t|: | \| |$)/;
/** Some put the file into tags, with a note of its length. */
const TAGGED = /<content>\n([\s\S]*?)\n<\/content>/;
/** A shell's output comes after what was noted of the program's run. */
const SHELL_NOTE = /^(?:[A-Z][^\n]*\n)*?Output:\n/;
const SHELL_FAILED = /^(?:[^\n]*\n)*?(?:Process exited with code|Exit code:) [1-9]/;
/** Some say before its text which file it is. */
const TITLE = /^Content of [^\n]*:\n/;
const END_NOTE = /\n+\(End of file[^\n]*\)$/;

/** A tool that does several things returns a list of results. */
function resultText(text: string): string {
  if (!text.startsWith("[{")) return text;
  try {
    const list = JSON.parse(text) as { result?: unknown }[];
    return list.every(({ result }) => typeof result === "string") ? list.map(({ result }) => result).join("\n") : text;
  } catch {
    return text;
  }
}

/** What the file holds, without the numbers that some agents put before its lines. */
function fileText(answer: string): string {
  const result = resultText(answer);
  const [, tagged = result.replace(SHELL_NOTE, "").replace(TITLE, "")] = TAGGED.exec(result) ?? [];
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
 * The next step of the task, for models that play one for coding agents: reads a file or two, writes another, and says so; or
 * calls the tool that it is asked to call. `undefined` where there is no such task, or no tools for it.
 */
export function agentSteps(prompt: Prompt, seed: Seed): Segment[] | undefined {
  const begin = prompt.turns.findLastIndex((turn) => turn.role === "user" && isTask(textOf(turn)));
  const asked = textOf(prompt.turns[begin]);
  const since = prompt.turns.slice(begin);
  const results = since.flatMap((turn) => turn.parts).filter((part): part is Result => part.type === "result");
  const named = (TASK_OF_TWO.exec(asked) ?? TASK.exec(asked))?.slice(1) ?? [];
  const target = named.at(-1);
  if (target !== undefined) {
    const task = { sources: named.slice(0, -1), target, readAtOnce: callsOfOneTurn(since) > 1 };
    return fileSteps(task, results, prompt);
  }
  return callSteps(NAMED_TOOL.exec(asked)?.[1] ?? "", results, prompt.tools, seed);
}

/** The first calls: in one turn where they were made in parallel. */
const callsOfOneTurn = (turns: Prompt["turns"]): number =>
  turns.map(({ parts }) => parts.filter(({ type }) => type === "call").length).find((calls) => calls > 0) ?? 0;

const isTask = (text: string): boolean => TASK.test(text) || NAMED_TOOL.test(text);
const call = (...calls: Call[]): Segment[] => calls.map((one, ordinal) => ({ type: "call", ordinal, ...one }));
const say = (text: string): Segment[] => [{ type: "text", spans: [{ text }] }];

type Result = PromptPart & { type: "result" };

interface FileTask {
  sources: string[];
  target: string;
  readAtOnce: boolean;
}

function fileSteps(
  { sources, target, readAtOnce }: FileTask,
  results: Result[],
  prompt: Prompt,
): Segment[] | undefined {
  const hands = findHands(prompt.tools);
  if (hands === undefined) return undefined;
  const wrong = results.find(({ failed, text }) => failed || SHELL_FAILED.test(text));
  if (wrong !== undefined) return say(`The simulator's agent gives up: ${wrong.text}`);
  const unread = sources.slice(results.length);
  if (unread.length > 0) return call(...unread.slice(0, prompt.parallel ? undefined : 1).map(hands.read));
  if (results.length > sources.length)
    return say(
      `Done: ${target} holds ${sources.join(" and ")} in upper case${readAtOnce ? ", read in parallel" : ""}.`,
    );
  return call(hands.write(target, results.map(({ text }) => fileText(text).toUpperCase()).join("\n")));
}

/** Where a protocol has no namespaces, the name of a tool ends as it is called in its own. */
function callSteps(name: string, results: Result[], tools: Tool[], seed: Seed): Segment[] | undefined {
  const tool = tools.find((one) => one.name === name || one.name.endsWith(`__${name}`));
  if (tool === undefined) return undefined;
  const last = results.at(-1);
  if (last !== undefined) return say(`Done: ${name} answered “${last.text}”.`);
  return call({ name: tool.name, input: inputFor(tool, seed, []), freeform: tool.freeform });
}
