import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import { asksForCall, type ToolChoice } from "../../../canon/tool.ts";

export function decodeToolChoice(value: unknown): { toolChoice?: ToolChoice; parallelTools?: boolean } {
  const fields = new Fields(value);
  const type = fields.string("type");
  const name = fields.string("name");
  const single = fields.boolean("disable_parallel_tool_use");
  const parallel = single === undefined ? {} : { parallelTools: !single };
  if (type === "tool" && name !== undefined) return { toolChoice: { type, name }, ...parallel };
  return type === "auto" || type === "any" || type === "none" ? { toolChoice: { type }, ...parallel } : parallel;
}

/** The dialect cannot restrict a choice to some of the tools, so the other tools are not sent. */
export function allowedNames(call: CanonCall, notes: Notes): ReadonlySet<string> | undefined {
  const { toolChoice } = call;
  if (toolChoice?.type !== "allowed") return undefined;
  notes.approximated(call.paths.toolChoice ?? "tool_choice", "only the allowed tools were sent to this provider");
  return new Set(toolChoice.names);
}

/** A choice that forces a call, as a model that rejects it gets it: the model is asked to call instead. */
export function askedInWords(call: CanonCall, notes: Notes): { call: CanonCall; instruction: string } | undefined {
  const choice = ownChoice(call);
  if (choice === undefined || !forcesCall(call) || call.tools.length === 0) return undefined;
  const reason = "this model does not accept a forced call: it was asked in words to make one";
  notes.approximated(call.paths.toolChoice ?? "tool_choice", reason);
  const which = choice.name === undefined ? "one of your tools" : `the tool ${JSON.stringify(choice.name)}`;
  const { toolChoice } = call;
  const asked: ToolChoice = toolChoice?.type === "allowed" ? { ...toolChoice, mode: "auto" } : { type: "auto" };
  return { call: { ...call, toolChoice: asked }, instruction: `Call ${which} before you answer.` };
}

interface ChoiceTarget {
  notes: Notes;
  /** Whether any tool is sent, apart from the one that replaces a schema. */
  hasTools: boolean;
  /** The tool that replaces the response schema. */
  standIn: string | undefined;
}

export function encodeToolChoice(call: CanonCall, target: ChoiceTarget): JsonObject | undefined {
  const { hasTools, standIn, notes } = target;
  const path = call.paths.toolChoice ?? "tool_choice";
  if (!hasTools && standIn === undefined) {
    if (asksForCall(call.toolChoice)) notes.dropped(path, "the request has no tools to choose from");
    return undefined;
  }
  const choice = standIn === undefined ? ownChoice(call) : standInChoice(call, standIn, hasTools);
  // Parallel calls are the default, and a choice of `none` makes no call at all.
  if (call.parallelTools !== false || choice?.type === "none") return choice;
  return { ...(choice ?? { type: "auto" }), disable_parallel_tool_use: true };
}

/** Whether the model must call a tool, which rules out thinking: a client that requests both needs the call. */
export function forcesCall(call: CanonCall): boolean {
  const choice = ownChoice(call);
  return choice?.type === "any" || choice?.type === "tool";
}

type WireChoice = { type: string; name?: string };

function ownChoice({ toolChoice }: CanonCall): WireChoice | undefined {
  return toolChoice?.type === "allowed" ? { type: toolChoice.mode } : toolChoice;
}

/** The response is a call of the replacement tool or, if the client's tools may be called too, of any tool. */
function standInChoice(call: CanonCall, standIn: string, hasTools: boolean): WireChoice {
  if (!hasTools || call.toolChoice?.type === "none") return { type: "tool", name: standIn };
  return call.toolChoice?.type === "tool" ? call.toolChoice : { type: "any" };
}
