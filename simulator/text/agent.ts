import { isObject, type JsonObject } from "../json.ts";
import type { Segment } from "./plan.ts";
import { type Prompt, type PromptPart, type Tool, textOf } from "./prompt.ts";

/** The one thing that the agent can do: "Read the file a.txt and write its content in upper case to b.txt". */
const TASK = /\bread\b[^\n]*?([\w~./-]*[\w-]\.\w+)[^\n]*?\bwrite\b[^\n]*?([\w~./-]*[\w-]\.\w+)/i;
const PATH_NAMES = ["file_path", "absolute_path", "path", "filePath", "filename", "file"];
const CONTENT_NAMES = ["content", "contents", "text", "data"];
/** Agents add words of their own to what a tool has said. */
const REMARK = /<system-reminder>[\s\S]*?<\/system-reminder>/g;
const LINE_NUMBER = /^\s*\d+(?:→|\t|: |$)/;
/** Some put the file into tags, with a note of its length. */
const TAGGED = /<content>\n([\s\S]*?)\n<\/content>/;
const END_NOTE = /\n+\(End of file[^\n]*\)$/;

interface FileTool {
  name: string;
  path: string;
  /** Absent for a tool that only reads. */
  content?: string;
}

function findTool(tools: readonly Tool[], verb: RegExp, writes: boolean): FileTool | undefined {
  for (const { name, schema } of tools) {
    const properties: JsonObject = isObject(schema?.properties) ? schema.properties : {};
    const path = PATH_NAMES.find((one) => one in properties);
    const content = CONTENT_NAMES.find((one) => one in properties);
    if (!verb.test(name) || path === undefined || (content !== undefined) !== writes) continue;
    return { name, path, ...(content === undefined ? {} : { content }) };
  }
  return undefined;
}

/** What the file holds, without the numbers that some agents put before its lines. */
function fileText(result: string): string {
  const [, tagged = result] = TAGGED.exec(result) ?? [];
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
 * The next step of the task, for models that play one for coding agents: reads a file, writes another, and says so. The tools
 * are found by their names and arguments, which are every agent's own. `undefined` where there is no such task, or no
 * tools for it.
 */
export function agentSteps(prompt: Prompt): Segment[] | undefined {
  const begin = prompt.turns.findLastIndex((turn) => turn.role === "user" && TASK.test(textOf(turn)));
  const [, source, target] = TASK.exec(textOf(prompt.turns[begin])) ?? [];
  const reader = findTool(prompt.tools, /read/i, false);
  const writer = findTool(prompt.tools, /write/i, true);
  if (source === undefined || target === undefined || !reader || !writer?.content) return undefined;
  const since = prompt.turns.slice(begin).flatMap((turn) => turn.parts);
  const results = since.filter((part): part is PromptPart & { type: "result" } => part.type === "result");
  const last = results.at(-1);
  const call = (name: string, input: JsonObject): Segment[] => [
    { type: "call", ordinal: 0, name, input, freeform: false },
  ];
  const say = (text: string): Segment[] => [{ type: "text", spans: [{ text }] }];
  if (last === undefined) return call(reader.name, { [reader.path]: source });
  if (last.failed) return say(`The simulator's agent gives up: ${last.text}`);
  if (results.length > 1) return say(`Done: ${target} holds ${source} in upper case.`);
  return call(writer.name, { [writer.path]: target, [writer.content]: fileText(last.text).toUpperCase() });
}
