import type { CanonCall } from "../../canon/call.ts";
import type { Notes } from "../../canon/notes.ts";
import type { Part } from "../../canon/part.ts";
import type { ToolChoice } from "../../canon/tool.ts";
import { digestOfText } from "../../canon/tool-id.ts";
import type { AnswerReading } from "../codec.ts";

/** Which tool names a target accepts. */
export interface ToolNameRule {
  pattern: RegExp;
  /** Characters that are not allowed in a name. */
  foreign: RegExp;
  longest: number;
}

/** What most hosts accept: letters, digits, underscores and dashes. */
export const plainNames = (longest: number): ToolNameRule => ({
  pattern: new RegExp(`^[a-zA-Z0-9_-]{1,${longest}}$`),
  foreign: /[^a-zA-Z0-9_-]/g,
  longest,
});

interface FittedCall {
  call: CanonCall;
  reading: AnswerReading;
}

/**
 * Renames every function to a name that the target accepts: in its declaration, in the tool choice, and in calls of the history.
 * `reading` restores the client's names in the response.
 */
export function fitToolNames(call: CanonCall, rule: ToolNameRule, notes: Notes): FittedCall {
  if (namesFit(call, rule)) return { call, reading: {} };
  const toolNames: Record<string, string> = {};
  const fit = (name: string): string => {
    if (rule.pattern.test(name)) return name;
    const fitted = fittedName(name, rule);
    toolNames[fitted] = name;
    return fitted;
  };
  const tools = call.tools.map((tool) => {
    if ((tool.type !== "function" && tool.type !== "custom") || rule.pattern.test(tool.name)) return tool;
    const name = fit(tool.name);
    notes.approximated(tool.path, `renamed to ${name} to meet this provider's rules`);
    return { ...tool, name };
  });
  const turns = call.turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => fitPart(part, fit)) }));
  const { toolChoice } = call;
  const fitted = {
    ...call,
    tools,
    turns,
    ...(toolChoice === undefined ? {} : { toolChoice: fitChoice(toolChoice, fit) }),
  };
  return { call: fitted, reading: { toolNames } };
}

/** True for nearly all calls, which are then not copied. */
function namesFit({ tools, turns }: CanonCall, { pattern }: ToolNameRule): boolean {
  for (const tool of tools) {
    if ((tool.type === "function" || tool.type === "custom") && !pattern.test(tool.name)) return false;
  }
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.type !== "tool-call" && part.type !== "tool-result") continue;
      if (part.name !== undefined && !pattern.test(part.name)) return false;
    }
  }
  return true;
}

/** The valid part of the name, with a digest that keeps it unique. */
function fittedName(name: string, { foreign, longest, pattern }: ToolNameRule): string {
  const tail = `_${digestOfText(name)}`;
  const head = name.replace(foreign, "_").slice(0, longest - tail.length - 1);
  return pattern.test(head + tail) ? head + tail : `_${head}${tail}`;
}

function fitPart(part: Part, fit: (name: string) => string): Part {
  if (part.type === "tool-call") return { ...part, name: fit(part.name) };
  return part.type === "tool-result" && part.name !== undefined ? { ...part, name: fit(part.name) } : part;
}

function fitChoice(choice: ToolChoice, fit: (name: string) => string): ToolChoice {
  if (choice.type === "tool") return { ...choice, name: fit(choice.name) };
  return choice.type === "allowed" ? { ...choice, names: choice.names.map(fit) } : choice;
}
