import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { asksForCall, type FunctionTool, type Tool, type WebSearchTool } from "../../../canon/tool.ts";
import { functionNames, withoutDialect } from "../../genai/request/tools.ts";
import { freeTextFunction } from "../../request/free-text-tool.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { type EncodeScope, fieldPathOf, isOwn, noteCacheMark } from "./encode-scope.ts";
import { SEARCH } from "./tools.ts";

export function encodeTools(scope: EncodeScope, standIn?: FunctionTool): JsonObject[] {
  const { call } = scope;
  const tools = call.tools.flatMap((tool) => encodeTool(tool, scope));
  return standIn === undefined ? tools : [encodeFunction(standIn, scope), ...tools];
}

function encodeTool(tool: Tool, scope: EncodeScope): JsonObject[] {
  const { notes } = scope;
  if (tool.type !== "web-search") noteCacheMark(tool, scope);
  switch (tool.type) {
    case "function":
      if (tool.native !== undefined)
        notes.approximated(tool.path, "this provider supports it only as a plain function");
      return [encodeFunction(tool, scope)];
    case "custom":
      return [encodeFunction(freeTextFunction(tool, fieldPathOf(scope, tool, "format"), notes), scope)];
    case "web-search":
      return [encodeSearch(tool, scope)];
    case "native":
      if (tool.dialect === OWN_ORIGIN) return [tool.raw];
      notes.dropped(tool.path, `only its own protocol has the tool ${tool.name}`);
      return [];
  }
}

function encodeFunction(tool: FunctionTool, scope: EncodeScope): JsonObject {
  if (tool.strict) {
    scope.notes.dropped(
      fieldPathOf(scope, tool, "strict"),
      "this protocol does not support strict schemas for single tools",
    );
  }
  const { name, description, schema } = tool;
  const parameters = schema && withoutDialect(schema);
  return {
    type: "function",
    name,
    ...withoutAbsent({ description, parameters }),
    ...(isOwn(scope) ? tool.extras : {}),
  };
}

function encodeSearch(tool: WebSearchTool, scope: EncodeScope): JsonObject {
  const { notes } = scope;
  const unknown = "this provider's web search has no such setting";
  const settings = ["allowedDomains", "blockedDomains", "maxUses", "location", "contextSize"] as const;
  for (const setting of settings) {
    if (tool[setting] !== undefined) notes.dropped(fieldPathOf(scope, tool, setting), unknown);
  }
  if (tool.cache !== undefined) {
    notes.dropped(fieldPathOf(scope, tool, "cache"), "this provider does not accept cache marks on web search");
  }
  return { type: SEARCH, ...(isOwn(scope) ? tool.extras : {}) };
}

/** Only functions can be chosen by name. The model decides when to use hosted tools. */
export function encodeToolChoice(scope: EncodeScope): unknown {
  const { call, notes } = scope;
  const { toolChoice: choice } = call;
  if (call.parallelTools === false) {
    notes.dropped(call.paths.parallelTools ?? "parallelTools", "this protocol cannot forbid parallel calls");
  }
  if (choice === undefined) return undefined;
  const declared = functionNames(call);
  const path = call.paths.toolChoice ?? "toolChoice";
  if (declared.length === 0 && !isOwn(scope)) {
    if (asksForCall(choice)) notes.dropped(path, "the request has no functions to choose from");
    return undefined;
  }
  if (choice.type !== "tool" && choice.type !== "allowed") return choice.type;
  const named = choice.type === "tool" ? [choice.name] : choice.names;
  const functions = new Set(declared);
  const known = named.filter((name) => functions.has(name));
  if (known.length < named.length) {
    notes.dropped(path, "only functions can be chosen by name");
    if (known.length === 0) return undefined;
  }
  const mode = choice.type === "tool" || choice.mode === "any" ? "any" : "validated";
  return { allowed_tools: { mode, tools: known } };
}

/** With a stand-in, the model may call the client's functions first, and must call one that the client forces. */
export function choiceBeside(standIn: string, { toolChoice }: CanonCall, taken: readonly string[]): unknown {
  const only = (names: readonly string[]) => ({ allowed_tools: { mode: "any", tools: names } });
  if (taken.length === 0 || toolChoice?.type === "none") return only([standIn]);
  if (toolChoice?.type === "tool" && taken.includes(toolChoice.name)) return only([toolChoice.name]);
  if (toolChoice?.type !== "allowed") return "any";
  const functions = new Set(taken);
  return only([...toolChoice.names.filter((name) => functions.has(name)), standIn]);
}
