import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import {
  asksForCall,
  type CustomTool,
  type FunctionTool,
  type Tool,
  type ToolChoice,
  type WebSearchTool,
} from "../../canon/tool.ts";
import { isStrict, objectSchema } from "../request/strict-schema.ts";
import { takeCache, takeExtras, withExtras } from "./part-fields.ts";
import { ownExtras, pathIn, type RequestScope, toolCacheControl } from "./request/request-scope.ts";

export function decodeTools(body: Fields): Tool[] {
  const tools = (body.array("tools") ?? []).map((raw, index) => decodeTool(raw, `tools[${index}]`));
  const search = body.object("web_search_options");
  return search === undefined ? tools : [...tools, decodeWebSearch(search)];
}

export function decodeTool(raw: unknown, path: string): Tool {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  const inner = new Fields(type === "function" || type === "custom" ? fields.object(type) : undefined);
  const name = inner.string("name");
  if (name === undefined) return { type: "native", dialect: "chat", name: type, raw: isObject(raw) ? raw : {}, path };
  const description = inner.string("description");
  if (type === "custom") {
    const format = inner.object("format");
    const tool = { type: "custom", name, ...withoutAbsent({ description, format }), path } as const;
    return { ...tool, ...takeCache(fields), ...takeExtras(fields, type, inner) };
  }
  const schema = inner.object("parameters");
  const strict = inner.boolean("strict");
  return {
    type: "function",
    name,
    ...withoutAbsent({ description, schema, strict }),
    path,
    ...takeCache(fields),
    ...takeExtras(fields, type, inner),
  };
}

const CONTEXT_SIZES = ["low", "medium", "high"] as const;
const LOCATION_FIELDS = ["city", "region", "country", "timezone"] as const;

function decodeWebSearch(options: JsonObject): WebSearchTool {
  const fields = new Fields(options);
  const size = fields.string("search_context_size");
  const contextSize = CONTEXT_SIZES.find((known) => known === size);
  const approximate = objectAt(fields.object("user_location"), "approximate");
  const location = Object.fromEntries(
    LOCATION_FIELDS.flatMap((key) => {
      const value = stringAt(approximate, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return {
    type: "web-search",
    path: "web_search_options",
    ...withoutAbsent({ contextSize }),
    ...(approximate === undefined ? {} : { location }),
    ...takeExtras(fields),
  };
}

export function decodeToolChoice(body: Fields): ToolChoice | undefined {
  const choice = body.take("tool_choice");
  if (choice === "none" || choice === "auto") return { type: choice };
  if (choice === "required") return { type: "any" };
  const allowed = objectAt(choice, "allowed_tools");
  if (allowed !== undefined) {
    const mode = allowed["mode"] === "required" ? "any" : "auto";
    const names = arrayAt(allowed, "tools").flatMap((tool) => nameIn(tool) ?? []);
    return { type: "allowed", mode, names };
  }
  const name = nameIn(choice);
  return name === undefined ? undefined : { type: "tool", name };
}

const nameIn = (value: unknown): string | undefined =>
  stringAt(objectAt(value, "function"), "name") ??
  stringAt(objectAt(value, "custom"), "name") ??
  stringAt(value, "name");

/** A tool that the gateway adds, whose call is the response. */
export interface StandIn {
  name: string;
  schema: JsonObject;
  description?: string;
}

/** `tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`, as far as the provider supports them. */
export function encodeTools(scope: RequestScope, standIn?: StandIn): JsonObject {
  const { call, context, notes } = scope;
  const choice = encodeToolChoice(scope, standIn);
  const only = choice.only === undefined ? undefined : new Set(choice.only);
  const kept = call.tools.filter((tool) => only === undefined || !("name" in tool) || only.has(tool.name));
  const tools = kept.flatMap((tool) => encodeTool(tool, scope));
  if (standIn !== undefined) tools.push(encodeStandIn(standIn));
  const search = call.tools.find((tool) => tool.type === "web-search");
  const options = search === undefined ? {} : encodeWebSearch(search, scope);
  if (tools.length === 0) {
    const reason = "there are no tools to choose from";
    if (asksForCall(call.toolChoice)) notes.dropped(call.paths.toolChoice ?? "tool_choice", reason);
    if (call.parallelTools !== undefined && call.tools.length > 0)
      notes.dropped(call.paths.parallelTools ?? "parallel_tool_calls", reason);
    return options;
  }
  const parallel = context.quirks.unsupported.includes("parallelTools") ? undefined : call.parallelTools;
  return {
    tools,
    ...withoutAbsent({ tool_choice: choice.wire, parallel_tool_calls: parallel }),
    ...options,
  };
}

function encodeTool(tool: Tool, scope: RequestScope): JsonObject[] {
  switch (tool.type) {
    case "function":
      if (tool.native !== undefined) {
        scope.notes.approximated(tool.path, "this provider supports it only as a plain function");
      }
      return [
        withExtras({ ...encodeFunction(tool, scope), ...toolCacheControl(scope, tool) }, ownExtras(scope, tool.extras)),
      ];
    case "custom":
      return [withExtras({ ...encodeCustom(tool), ...toolCacheControl(scope, tool) }, ownExtras(scope, tool.extras))];
    case "web-search":
      return [];
    case "native":
      if (tool.dialect === "chat") return [tool.raw];
      scope.notes.dropped(tool.path, `only its own protocol has this tool (${tool.name})`);
      return [];
    default:
      return tool satisfies never;
  }
}

function encodeFunction(tool: FunctionTool, scope: RequestScope): JsonObject {
  const { name, description } = tool;
  const own = scope.call.dialect === "chat";
  const schema = own || tool.schema === undefined ? tool.schema : objectSchema(tool.schema);
  const strict = own || !tool.strict || isStrict(schema) ? tool.strict : undefined;
  if (strict !== tool.strict) {
    const reason = "this provider enforces a schema only if all its properties are required and no others are allowed";
    scope.notes.dropped(pathIn(scope, tool, "strict"), reason);
  }
  return {
    type: "function",
    function: {
      name,
      ...withoutAbsent({ description, parameters: schema, strict }),
    },
  };
}

function encodeCustom({ name, description, format }: CustomTool): JsonObject {
  return { type: "custom", custom: { name, ...withoutAbsent({ description, format }) } };
}

function encodeStandIn({ name, schema, description = "Gives the answer." }: StandIn): JsonObject {
  return { type: "function", function: { name, description, parameters: schema } };
}

function encodeWebSearch(tool: WebSearchTool, scope: RequestScope): JsonObject {
  const { notes, context } = scope;
  if (!context.quirks.webSearch) {
    notes.dropped(tool.path, "this provider does not support web search");
    return {};
  }
  for (const field of ["allowedDomains", "blockedDomains", "maxUses"] as const) {
    if (tool[field] !== undefined)
      notes.dropped(pathIn(scope, tool, field), "this provider's web search has no such setting");
  }
  if (tool.cache !== undefined) {
    notes.dropped(pathIn(scope, tool, "cache"), "this provider does not accept cache marks on web search");
  }
  const options = {
    ...withoutAbsent({ search_context_size: tool.contextSize }),
    ...(tool.location === undefined ? {} : { user_location: { type: "approximate", approximate: tool.location } }),
  };
  return { web_search_options: withExtras(options, ownExtras(scope, tool.extras)) };
}

interface WireChoice {
  wire?: unknown;
  /** The tools that may be offered, if the choice is expressed by leaving out the others. */
  only?: readonly string[];
}

function encodeToolChoice(scope: RequestScope, standIn: StandIn | undefined): WireChoice {
  const { call, context, notes } = scope;
  const { toolChoice: choice } = call;
  if (standIn !== undefined) return choiceBesideStandIn(scope, standIn);
  if (choice === undefined) return {};
  switch (choice.type) {
    case "auto":
    case "none":
      return { wire: choice.type };
    case "any":
      return { wire: anyTool(scope) };
    case "tool":
      if (!isNamed(call.tools, choice.name)) {
        notes.dropped(call.paths.toolChoice ?? "tool_choice", "only functions can be chosen by name");
        return {};
      }
      if (context.quirks.namedToolChoice) return { wire: namedTool(call.tools, choice.name) };
      return { wire: anyTool(scope), only: [choice.name] };
    case "allowed":
      // Few providers support a list of allowed tools. The others get only those tools, with the same effect.
      if (call.dialect === "chat") return { wire: allowedTools(call.tools, choice) };
      notes.approximated(call.paths.toolChoice ?? "tool_choice", "only the allowed tools were sent to this provider");
      return { wire: choice.mode === "any" ? anyTool(scope) : "auto", only: choice.names };
    default:
      return choice satisfies never;
  }
}

/** Forces a call of the stand-in, unless the client forces one of its own tools or lets the model choose. */
function choiceBesideStandIn(scope: RequestScope, standIn: StandIn): WireChoice {
  const { call, context } = scope;
  const { toolChoice: choice } = call;
  const own = call.tools.filter((tool) => tool.type !== "web-search");
  if (choice?.type === "tool" && context.quirks.namedToolChoice && isNamed(call.tools, choice.name))
    return { wire: namedTool(call.tools, choice.name) };
  if (own.length > 0 && choice?.type !== "none") {
    return { wire: anyTool(scope), ...(choice?.type === "allowed" ? { only: choice.names } : {}) };
  }
  if (!context.quirks.namedToolChoice) return { wire: anyTool(scope), only: [] };
  return { wire: namedTool([], standIn.name), only: [] };
}

function anyTool({ call, context, notes }: RequestScope): string {
  const { anyToolWord } = context.quirks;
  if (anyToolWord !== undefined) return anyToolWord;
  notes.approximated(
    call.paths.toolChoice ?? call.paths.format ?? "tool_choice",
    "this provider cannot be forced to call a tool",
  );
  return "auto";
}

const isNamed = (tools: readonly Tool[], name: string): boolean =>
  tools.some((tool) => (tool.type === "function" || tool.type === "custom") && tool.name === name);

const namedTool = (tools: readonly Tool[], name: string): JsonObject => wireName(customNames(tools), name);

const customNames = (tools: readonly Tool[]): ReadonlySet<string> =>
  new Set(tools.flatMap((tool) => (tool.type === "custom" ? [tool.name] : [])));

function wireName(custom: ReadonlySet<string>, name: string): JsonObject {
  const type = custom.has(name) ? "custom" : "function";
  return { type, [type]: { name } };
}

function allowedTools(tools: readonly Tool[], { mode, names }: Extract<ToolChoice, { type: "allowed" }>): JsonObject {
  const custom = customNames(tools);
  const allowed = { mode: mode === "any" ? "required" : "auto", tools: names.map((name) => wireName(custom, name)) };
  return { type: "allowed_tools", allowed_tools: allowed };
}
