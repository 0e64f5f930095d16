import { type JsonObject, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import {
  asksForCall,
  type CustomTool,
  type FunctionTool,
  type Tool,
  type ToolMeaning,
  type WebSearchTool,
} from "../../../canon/tool.ts";
import { freeTextFunction } from "../../request/free-text-tool.ts";
import { noteUnsentSettings } from "../../request/note-unsent-settings.ts";
import { isStrict, objectSchema } from "../../request/strict-schema.ts";
import { builtInTool } from "./built-in-tools.ts";
import { sentSvg } from "./named-models.ts";
import { isOwn, knowsTool, ownExtras, pathIn, type RequestScope } from "./request-scope.ts";
import { unsentMembers } from "./unsent-members.ts";

/** `tools`, `tool_choice` and `parallel_tool_calls`, as far as the provider supports them. Without tools, nothing is sent (R16). */
export function encodeTools(scope: RequestScope): JsonObject {
  const { call, context, notes } = scope;
  const tools = call.tools.filter((tool) => !(isOwn(scope) && tool.loaded)).flatMap((tool) => encodeTool(tool, scope));
  // The items that load tools are restored for this dialect.
  const loads = isOwn(scope) && call.tools.some((tool) => tool.loaded);
  if (tools.length === 0 && !loads) {
    const reason = "there are no tools to choose from";
    if (asksForCall(call.toolChoice)) notes.dropped(call.paths.toolChoice ?? "tool_choice", reason);
    if (call.parallelTools !== undefined && call.tools.length > 0) {
      notes.dropped(call.paths.parallelTools ?? "parallel_tool_calls", reason);
    }
    return {};
  }
  const choice = encodeToolChoice(scope);
  const parallel = context.quirks.unsupported.includes("parallelTools") ? undefined : call.parallelTools;
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...withoutAbsent({ tool_choice: choice, parallel_tool_calls: parallel }),
  };
}

function encodeTool(tool: Tool, scope: RequestScope): JsonObject[] {
  const { notes } = scope;
  if (tool.cache?.ttl !== undefined) {
    notes.dropped(pathIn(scope, tool, "cache"), "this provider decides how long to cache");
  }
  switch (tool.type) {
    case "function":
      if (isOwnKind(tool, scope)) return [tool.native?.raw ?? {}];
      if (tool.native !== undefined)
        notes.approximated(tool.path, "this provider supports it only as a plain function");
      return [encodeFunction(tool, scope)];
    case "custom":
      return [knowsTool(scope, "custom") ? encodeCustom(tool, scope) : encodeCustomAsFunction(tool, scope)];
    case "web-search":
      if (knowsTool(scope, "web_search")) return [encodeWebSearch(tool, scope)];
      notes.dropped(tool.path, "this provider does not support web search");
      return [];
    case "native":
      if (tool.dialect === "responses" && knowsTool(scope, tool.name)) return [sentMembers(tool.raw, tool.path, scope)];
      {
        const hosted = tool.dialect === "responses" ? undefined : encodeHosted(tool.means);
        if (hosted !== undefined && knowsTool(scope, hosted.type)) {
          noteUnsentSettings(tool, notes);
          return [hosted];
        }
      }
      // R5: an unknown tool never fails the call.
      notes.dropped(
        tool.path,
        tool.dialect === "responses"
          ? `this provider does not support this tool (${tool.name})`
          : `only its own protocol has this tool (${tool.name})`,
      );
      return [];
    default:
      return tool satisfies never;
  }
}

/** The counterpart of another dialect's tool. */
function encodeHosted(means: ToolMeaning | undefined): (JsonObject & { type: string }) | undefined {
  switch (means?.type) {
    case "tool-search":
      return { type: "tool_search" };
    case "code-execution":
      return { type: "code_interpreter", container: { type: "auto" } };
    case "mcp": {
      const { name, url, authorization, allowedTools } = means;
      const optional = withoutAbsent({ authorization, allowed_tools: allowedTools });
      return { type: "mcp", server_label: name, server_url: url, ...optional, require_approval: "never" };
    }
    default:
      return undefined;
  }
}

/** Whether models of this dialect know the tool by its type, and the provider supports it. */
const isOwnKind = ({ native, name }: FunctionTool, scope: RequestScope): boolean =>
  native?.dialect === "responses" && builtInTool(native.raw) !== undefined && knowsTool(scope, name);

/** R17: `strict` is explicit, because providers default to true and other dialects to false. */
function encodeFunction(tool: FunctionTool, scope: RequestScope): JsonObject {
  const { name, description } = tool;
  const own = isOwn(scope);
  const schema = own && tool.schema !== undefined ? tool.schema : objectSchema(tool.schema ?? {});
  const strict = own ? tool.strict : tool.strict === true && isStrict(schema);
  if (!own && tool.strict && !strict) {
    const reason = "this provider enforces a schema only if all its properties are required and no others are allowed";
    scope.notes.dropped(pathIn(scope, tool, "strict"), reason);
  }
  return {
    type: "function",
    name,
    ...withoutAbsent({ description }),
    parameters: schema,
    ...withoutAbsent({ strict }),
    ...(tool.deferred ? { defer_loading: true } : {}),
    ...callersOf(tool, scope),
    ...ownExtras(scope, tool.extras),
  };
}

const callersOf = ({ callers }: Tool, scope: RequestScope): JsonObject =>
  isOwn(scope) ? withoutAbsent({ allowed_callers: callers }) : {};

function encodeCustom(tool: CustomTool, scope: RequestScope): JsonObject {
  const { name, description, format, deferred, extras } = tool;
  const optional = withoutAbsent({ description, format: format && flatFormat(format) });
  return {
    type: "custom",
    name,
    ...optional,
    ...(deferred ? { defer_loading: true } : {}),
    ...callersOf(tool, scope),
    ...ownExtras(scope, extras),
  };
}

/** A grammar's members are next to its type here. */
function flatFormat(format: JsonObject): JsonObject {
  const { grammar: _nested, ...rest } = format;
  return { ...rest, ...objectAt(format, "grammar") };
}

function encodeCustomAsFunction(tool: CustomTool, scope: RequestScope): JsonObject {
  const { schema = {}, ...made } = freeTextFunction(tool, pathIn(scope, tool, "format"), scope.notes);
  return encodeFunction({ ...made, schema: { ...schema, additionalProperties: false }, strict: false }, scope);
}

function encodeWebSearch(tool: WebSearchTool, scope: RequestScope): JsonObject {
  const { allowedDomains, blockedDomains, location, contextSize } = tool;
  if (tool.maxUses !== undefined) {
    scope.notes.dropped(pathIn(scope, tool, "maxUses"), "this provider's web search has no such setting");
  }
  const filters = {
    ...withoutAbsent({ allowed_domains: allowedDomains, blocked_domains: blockedDomains }),
  };
  const wire = {
    type: "web_search",
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
    ...withoutAbsent({ search_context_size: contextSize }),
    ...ownExtras(scope, tool.extras),
  };
  return sentMembers(wire, tool.path, scope);
}

/** Removes members that providers do not get (R26, S07). */
function sentMembers(wire: JsonObject, path: string, { context, notes }: RequestScope): JsonObject {
  const unsent = unsentMembers(wire, context.quirks);
  for (const { member, reason } of unsent) notes.dropped(`${path}.${member}`, reason);
  const names = unsent.map(({ member }) => member);
  const drawing = sentSvg(wire, context.upstreamName);
  if (drawing?.reason !== undefined) notes.dropped(`${path}.svg.model`, drawing.reason);
  const sent = Object.fromEntries(Object.entries(wire).filter(([member]) => !names.includes(member)));
  return drawing === undefined ? sent : { ...sent, svg: drawing.svg };
}

/** Flat here, unlike in chat (R18). */
function encodeToolChoice(scope: RequestScope): unknown {
  const { call, notes } = scope;
  const { toolChoice: choice } = call;
  switch (choice?.type) {
    case undefined:
      return undefined;
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool": {
      const named = namesOf(scope).get(choice.name);
      if (named === undefined) {
        notes.dropped(call.paths.toolChoice ?? "tool_choice", "only functions can be chosen by name");
      }
      return named;
    }
    case "allowed": {
      const names = namesOf(scope);
      const tools = choice.names.flatMap((name) => names.get(name) ?? []);
      return { type: "allowed_tools", mode: choice.mode === "any" ? "required" : "auto", tools };
    }
    default:
      return choice satisfies never;
  }
}

/** How a choice refers to each of the client's tools. */
function namesOf(scope: RequestScope): ReadonlyMap<string, JsonObject> {
  const names = new Map<string, JsonObject>();
  for (const tool of scope.call.tools) {
    if (tool.type !== "function" && tool.type !== "custom") continue;
    const type = tool.type === "custom" && knowsTool(scope, "custom") ? "custom" : "function";
    const own = tool.type === "function" && isOwnKind(tool, scope);
    names.set(tool.name, own ? { type: tool.name } : { type, name: tool.name });
  }
  return names;
}
