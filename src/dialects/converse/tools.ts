import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CanonCall } from "../../canon/call.ts";
import { fieldPath } from "../../canon/field-names.ts";
import type { Notes } from "../../canon/notes.ts";
import type { CacheMark } from "../../canon/part.ts";
import type { FunctionTool, ToolChoice } from "../../canon/tool.ts";
import type { ToolIdRule } from "../../canon/tool-id.ts";
import type { EncodeRequestContext } from "../codec.ts";
import { freeTextFunction } from "../request/free-text-tool.ts";

export const TOOL_ID: ToolIdRule = { pattern: /^[a-zA-Z0-9_-]{1,64}$/, make: (seed) => `tooluse_${seed}` };

/** A mark after the block that it belongs to. Without a lifetime it lasts five minutes. */
export const cachePoint = ({ ttl }: CacheMark): JsonObject => ({
  cachePoint: { type: "default", ...(ttl === "1h" ? { ttl } : {}) },
});

/** Only this family's models accept marks. Others return 400 (H04). */
export const takesCachePoints = ({ origin }: EncodeRequestContext): boolean => origin === "messages";

interface EncodedTools {
  toolConfig: JsonObject | undefined;
  /** The model must call a tool. */
  forced: boolean;
}

/** A stand-in for a response schema is added to the client's own tools, one of which must then be called. */
export function encodeTools(
  call: CanonCall,
  context: EncodeRequestContext,
  standIn: FunctionTool | undefined,
  notes: Notes,
): EncodedTools {
  const own = offeredTools(call, notes);
  const offered = standIn === undefined ? own : [...own, standIn];
  const used = namesInHistory(call);
  if (offered.length === 0) {
    if (used.length === 0) return { toolConfig: undefined, forced: false };
    notes.approximated(
      "tools",
      "this provider rejects calls in the history without tools; the called tools were declared",
    );
    return {
      toolConfig: { tools: used.map((name) => encodeSpec(call, { type: "function", name, path: "" }, context, notes)) },
      forced: false,
    };
  }
  const tools = offered.flatMap((tool) => {
    const spec = encodeSpec(call, tool, context, notes);
    if (tool.cache === undefined) return [spec];
    if (takesCachePoints(context)) return [spec, cachePoint(tool.cache)];
    notes.dropped(fieldPath(call.fieldNames, tool, "cache"), "this model does not support cache marks");
    return [spec];
  });
  const toolChoice = standIn === undefined ? encodeChoice(call, own, notes) : choiceWith(standIn, call, own);
  return {
    toolConfig: { tools, ...withoutAbsent({ toolChoice }) },
    forced: toolChoice !== undefined && !("auto" in toolChoice),
  };
}

/** The client's functions, as far as the provider supports them. */
function offeredTools(call: CanonCall, notes: Notes): FunctionTool[] {
  const functions = call.tools.flatMap((tool): FunctionTool[] => {
    if (tool.type === "function") return [tool];
    if (tool.type === "custom") {
      return [freeTextFunction(tool, fieldPath(call.fieldNames, tool.path, "format"), notes)];
    }
    notes.dropped(
      tool.path,
      `this provider does not support ${tool.type === "web-search" ? "web search" : "tools of this kind"}`,
    );
    return [];
  });
  const choice = call.toolChoice;
  if (choice?.type === "allowed") {
    notes.approximated(call.paths.toolChoice ?? "tool_choice", "only the allowed tools were sent to this provider");
    const allowed = new Set(choice.names);
    return functions.filter(({ name }) => allowed.has(name));
  }
  // The protocol has no "none". Tools that must not be called are left out, unless the history needs them.
  if (choice?.type !== "none" || namesInHistory(call).length > 0) return functions;
  for (const tool of functions)
    notes.approximated(tool.path, "this protocol cannot forbid tool calls; the tool was left out");
  return [];
}

function encodeSpec(call: CanonCall, tool: FunctionTool, { traits }: EncodeRequestContext, notes: Notes): JsonObject {
  const { name, description, schema = { properties: {} }, strict } = tool;
  const keepsStrict = strict === true && traits.structuredOutput === true;
  if (strict === true && !keepsStrict) {
    notes.dropped(fieldPath(call.fieldNames, tool.path, "strict"), "this model does not support strict schemas");
  }
  if (tool.native !== undefined) notes.approximated(tool.path, "this provider supports it only as a plain function");
  return {
    toolSpec: {
      name,
      ...(description ? { description } : {}),
      inputSchema: { json: "type" in schema ? schema : { type: "object", ...schema } },
      ...(keepsStrict ? { strict } : {}),
    },
  };
}

const isOffered = (tools: readonly FunctionTool[], name: string): boolean => tools.some((tool) => tool.name === name);

function encodeChoice(call: CanonCall, offered: readonly FunctionTool[], notes: Notes): JsonObject | undefined {
  const choice: ToolChoice | undefined = call.toolChoice;
  switch (choice?.type) {
    case undefined:
      return undefined;
    case "auto":
      return { auto: {} };
    case "any":
      return { any: {} };
    case "tool":
      if (isOffered(offered, choice.name)) return { tool: { name: choice.name } };
      notes.dropped(call.paths.toolChoice ?? "tool_choice", "only functions can be chosen by name");
      return undefined;
    case "allowed":
      return choice.mode === "any" ? { any: {} } : { auto: {} };
    case "none":
      notes.approximated(
        call.paths.toolChoice ?? "tool_choice",
        "this protocol cannot forbid tool calls; the model may call a tool from the history",
      );
      return { auto: {} };
  }
}

/** Next to tools that the model may call, the stand-in is one of the choices. A call that the client forces takes precedence. */
function choiceWith(standIn: FunctionTool, { toolChoice }: CanonCall, own: readonly FunctionTool[]): JsonObject {
  if (toolChoice?.type === "tool" && isOffered(own, toolChoice.name)) return { tool: { name: toolChoice.name } };
  return own.length > 0 && toolChoice?.type !== "none" ? { any: {} } : { tool: { name: standIn.name } };
}

function namesInHistory(call: CanonCall): string[] {
  const names = call.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool-call" ? [part.name] : [])),
  );
  return [...new Set(names)];
}
