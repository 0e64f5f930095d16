import { arrayAt, isObject, type JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import {
  asksForCall,
  type FunctionTool,
  type NativeTool,
  type Tool,
  type ToolChoice,
  type ToolMeaning,
  type WebSearchTool,
} from "../../../canon/tool.ts";
import { freeTextFunction } from "../../request/free-text-tool.ts";
import { noteUnsentSettings } from "../../request/note-unsent-settings.ts";
import { restoreExtras } from "../part-extras.ts";
import { type EncodeScope, fieldPathOf, noteCacheMark } from "./encode-scope.ts";
import { toJsonSchema } from "./json-schema.ts";
import { lowerSchema } from "./lower-schema.ts";

const SEARCH = "googleSearch";
const MCP_SERVERS = "mcpServers";

/** Tools without settings that other dialects have too. */
const HOSTED = new Map([
  ["urlContext", "web-fetch"],
  ["codeExecution", "code-execution"],
] as const satisfies readonly [string, ToolMeaning["type"]][]) as ReadonlyMap<string, "web-fetch" | "code-execution">;

/** Every field of an element of `tools` is a tool, or a list of functions. */
export function decodeTools(tools: readonly unknown[]): Tool[] {
  return tools.flatMap((tool, index) =>
    Object.entries(isObject(tool) ? tool : {}).flatMap(([name, value]): Tool[] => {
      const path = `tools[${index}].${name}`;
      if (name === "functionDeclarations" && Array.isArray(value)) {
        return value.map((declaration, position) => decodeFunction(declaration, `${path}[${position}]`));
      }
      if (name === SEARCH && isObject(value)) return [decodeSearch(value, path)];
      if (name === MCP_SERVERS && Array.isArray(value)) {
        return value.map((server, position) => decodeServer(server, `${path}[${position}]`));
      }
      if (value === null) return [];
      const native = { type: "native" as const, dialect: "genai", name, raw: { [name]: value }, path };
      const kind = isEmpty(value) ? HOSTED.get(name) : undefined;
      return [kind === undefined ? native : { ...native, means: { type: kind } }];
    }),
  );
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Each server is a tool. Timeouts and headers other than a token have no counterpart, and keep a server in this dialect. */
function decodeServer(server: unknown, path: string): Tool {
  const fields = new Fields(server);
  const transport = new Fields(fields.object("streamableHttpTransport"));
  const headers = new Fields(transport.object("headers"));
  const [name, url, token] = [fields.string("name"), transport.string("url"), headers.string("Authorization")];
  const authorization = token === undefined ? undefined : BEARER.exec(token)?.[1];
  const isPlain = [fields, transport, headers].every((each) => each.rest() === undefined) && (!token || authorization);
  const native = {
    type: "native" as const,
    dialect: "genai",
    name: MCP_SERVERS,
    raw: { [MCP_SERVERS]: [server] },
    path,
  };
  if (!isPlain || name === undefined || url === undefined) return native;
  return { ...native, means: { type: "mcp", name, url, ...withoutAbsent({ authorization }) } };
}

const BEARER = /^Bearer (\S+)$/;

function decodeFunction(declaration: unknown, path: string): FunctionTool {
  const fields = new Fields(declaration);
  const name = fields.string("name") ?? "";
  const description = fields.string("description");
  const own = fields.object("parameters");
  const schema = fields.object("parametersJsonSchema") ?? (own === undefined ? undefined : toJsonSchema(own));
  const extras = fields.rest();
  return withoutAbsent({ type: "function" as const, name, path, description, schema, extras });
}

const without = (object: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

function decodeSearch(search: JsonObject, path: string): WebSearchTool {
  const fields = new Fields(search);
  const blocked = fields.array("excludeDomains")?.filter((domain) => typeof domain === "string");
  const extras = fields.rest();
  return withoutAbsent({ type: "web-search" as const, path, blockedDomains: blocked, extras });
}

/** The tools for the upstream: all functions in one element, every other tool in a separate one. */
export function encodeTools(scope: EncodeScope, standIn?: JsonObject): JsonObject[] {
  const functions: JsonObject[] = standIn === undefined ? [] : [standIn];
  const others: JsonObject[] = [];
  for (const tool of scope.call.tools) {
    if (tool.type !== "web-search") noteCacheMark(tool, scope);
    switch (tool.type) {
      case "function":
        if (tool.native !== undefined) {
          scope.notes.approximated(tool.path, "this provider supports it only as a plain function");
        }
        functions.push(encodeFunction(tool, scope));
        break;
      case "custom":
        functions.push(encodeFunction(freeTextFunction(tool, fieldPathOf(scope, tool, "format"), scope.notes), scope));
        break;
      case "web-search": {
        const obstacle = whyNotSearch(scope, functions.length > 0 || functionNames(scope.call).length > 0);
        if (obstacle !== undefined) {
          scope.notes.dropped(tool.path, obstacle);
          break;
        }
        others.push({ [SEARCH]: encodeSearch(tool, scope) });
        if (tool.cache !== undefined) {
          scope.notes.dropped(
            fieldPathOf(scope, tool, "cache"),
            "this provider does not accept cache marks on web search",
          );
        }
        break;
      }
      case "native":
        if (tool.dialect === "genai") others.push(tool.raw);
        else others.push(...encodeHosted(tool, scope));
    }
  }
  return [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...joinServers(others)];
}

/** All servers are in one tool. */
function joinServers(tools: readonly JsonObject[]): JsonObject[] {
  const servers = tools.flatMap((tool) => arrayAt(tool, MCP_SERVERS));
  if (servers.length === 0) return [...tools];
  return [...tools.filter((tool) => !(MCP_SERVERS in tool)), { [MCP_SERVERS]: servers }];
}

/** The counterpart of another dialect's tool, if there is one and the provider accepts it next to the rest of the request. */
function encodeHosted(tool: NativeTool, scope: EncodeScope): JsonObject[] {
  const { means } = tool;
  const obstacle = whyNotHosted(tool, scope);
  if (means === undefined || obstacle !== undefined) {
    scope.notes.dropped(tool.path, obstacle ?? `only its own protocol has the tool ${tool.name}`);
    return [];
  }
  // All deferred tools were loaded for this provider, which cannot search them.
  if (means.type === "tool-search") return [];
  noteUnsentSettings(tool, scope.notes);
  if (means.type !== "mcp") return [means.type === "web-fetch" ? { urlContext: {} } : { codeExecution: {} }];
  const { name, url, authorization } = means;
  const headers = authorization === undefined ? {} : { headers: { Authorization: `Bearer ${authorization}` } };
  return [{ [MCP_SERVERS]: [{ name, streamableHttpTransport: { url, ...headers } }] }];
}

function whyNotHosted({ means, name }: NativeTool, { call }: EncodeScope): string | undefined {
  if (means === undefined) return undefined;
  if (means.type === "mcp") {
    return means.allowedTools && "this provider offers a model all tools of a server; the request allows only some";
  }
  return functionNames(call).length > 0 ? `this provider does not support ${name} together with functions` : undefined;
}

/** The provider rejects its search next to functions, and many models reject it next to a response schema. */
function whyNotSearch({ call, context }: EncodeScope, hasFunctions: boolean): string | undefined {
  if (call.dialect === "genai") return undefined;
  if (hasFunctions) return "this provider does not support web search together with functions";
  const bound = call.format?.type === "schema" && !context.traits.schemaBesideTools;
  return bound ? "this model does not support web search together with a response schema" : undefined;
}

function encodeFunction(tool: FunctionTool, scope: EncodeScope): JsonObject {
  if (tool.strict) {
    scope.notes.dropped(
      fieldPathOf(scope, tool, "strict"),
      "this protocol does not support strict schemas for single tools",
    );
  }
  const declaration = withoutAbsent({
    name: tool.name,
    description: tool.description,
    ...encodeParameters(tool, scope),
  });
  return scope.call.dialect === "genai" ? restoreExtras(declaration, tool.extras) : declaration;
}

function encodeParameters({ schema, path, name }: FunctionTool, scope: EncodeScope): JsonObject {
  if (schema === undefined) return {};
  if (scope.context.quirks.jsonSchema) return { parametersJsonSchema: withoutDialect(schema) };
  const parameters = lowerSchema(schema, (loss) => {
    scope.notes.approximated(
      path,
      `this provider's schema language cannot express everything in the schema of ${name}: ${loss}`,
    );
  });
  // A function without arguments has no parameters at all: hosts reject an object without properties.
  return parameters["properties"] === undefined ? {} : { parameters };
}

/** The JSON Schema draft has no meaning to the provider, and some hosts reject the field. */
export const withoutDialect = (schema: JsonObject): JsonObject => without(schema, "$schema");

function encodeSearch(tool: WebSearchTool, scope: EncodeScope): JsonObject {
  const { notes, context, call } = scope;
  const unknown = "this provider's web search has no such setting";
  if (tool.allowedDomains !== undefined) notes.dropped(fieldPathOf(scope, tool, "allowedDomains"), unknown);
  if (tool.maxUses !== undefined) notes.dropped(fieldPathOf(scope, tool, "maxUses"), unknown);
  if (tool.location !== undefined) notes.dropped(fieldPathOf(scope, tool, "location"), unknown);
  if (tool.contextSize !== undefined) notes.dropped(fieldPathOf(scope, tool, "contextSize"), unknown);
  const blocked = tool.blockedDomains ?? [];
  // Hosts that do not accept labels reject this field as unknown.
  const takes = context.quirks.labels || call.dialect === "genai";
  if (blocked.length > 0 && !takes) notes.dropped(fieldPathOf(scope, tool, "blockedDomains"), unknown);
  const search = blocked.length > 0 && takes ? { excludeDomains: blocked } : {};
  return call.dialect === "genai" ? { ...search, ...tool.extras } : search;
}

/** `toolConfig`: how functions are chosen. Its other fields are specific to this dialect. */
export function decodeToolConfig(raw: JsonObject): { toolChoice?: ToolChoice; extras: Extra[] } {
  const config = new Fields(raw);
  const calling = new Fields(config.object("functionCallingConfig"));
  const mode = calling.string("mode");
  const names = (calling.array("allowedFunctionNames") ?? []).filter((name) => typeof name === "string");
  const toolChoice = choiceOf(mode, names);
  const extras = Object.entries(config.rest() ?? {}).map(([key, value]) => ({ keys: ["toolConfig", key], value }));
  const within = ["toolConfig", "functionCallingConfig"];
  const inner = Object.entries(calling.rest() ?? {}).map(([key, value]) => ({ keys: [...within, key], value }));
  // Validated against the schemas, but free to answer without a call: the canon can express that only with names.
  const held = mode === "VALIDATED" && names.length === 0 ? [{ keys: [...within, "mode"], value: mode }] : [];
  return withoutAbsent({ toolChoice, extras: [...extras, ...inner, ...held] });
}

function choiceOf(mode: string | undefined, names: readonly string[]): ToolChoice | undefined {
  const [only, ...others] = names;
  switch (mode) {
    case "NONE":
      return { type: "none" };
    case "ANY":
      if (only === undefined) return { type: "any" };
      return others.length === 0 ? { type: "tool", name: only } : { type: "allowed", mode: "any", names };
    case "AUTO":
    case "VALIDATED":
      return only === undefined ? { type: "auto" } : { type: "allowed", mode: "auto", names };
    default:
      return only === undefined ? undefined : { type: "allowed", mode: "auto", names };
  }
}

/** Only functions can be chosen by name. The model decides when to use hosted tools. */
export function encodeToolChoice(scope: EncodeScope): JsonObject | undefined {
  const { call, notes } = scope;
  const { toolChoice: choice } = call;
  if (call.parallelTools === false) {
    notes.dropped(call.paths.parallelTools ?? "parallelTools", "this protocol cannot forbid parallel calls");
  }
  if (choice === undefined) return undefined;
  const declared = functionNames(call);
  const path = call.paths.toolChoice ?? "toolChoice";
  if (declared.length === 0 && call.dialect !== "genai") {
    if (asksForCall(choice)) notes.dropped(path, "the request has no functions to choose from");
    return undefined;
  }
  const named = choice.type === "tool" ? [choice.name] : choice.type === "allowed" ? choice.names : [];
  const functions = new Set(declared);
  const known = named.filter((name) => functions.has(name));
  if (known.length < named.length) {
    notes.dropped(path, "only functions can be chosen by name");
    if (known.length === 0) return undefined;
  }
  switch (choice.type) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "any":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: known };
    case "allowed":
      return { mode: choice.mode === "any" ? "ANY" : "VALIDATED", allowedFunctionNames: known };
  }
}

export const functionNames = (call: CanonCall): string[] =>
  call.tools.flatMap((tool) => (tool.type === "function" || tool.type === "custom" ? [tool.name] : []));
