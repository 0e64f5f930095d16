import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { Fields } from "../../../canon/fields.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice, ToolMeaning, WebSearchTool } from "../../../canon/tool.ts";
import { builtInTool } from "./built-in-tools.ts";
import { loadedTools } from "./loaded-tools.ts";
import { isNamespace, type Namespaces } from "./namespaces.ts";

/** The tools of a request, and those that its items add. */
export function decodeTools(body: JsonObject, namespaces: Namespaces): Tool[] {
  const read = (tool: unknown, path: string): Tool[] =>
    isNamespace(tool) ? decodeNamespace(tool, path, namespaces) : [decodeTool(tool, path, namespaces)];
  const listed = arrayAt(body, "tools").flatMap((tool, index) => read(tool, `tools[${index}]`));
  const loaded = loadedTools(body).flatMap(({ raw, path }) => read(raw, path));
  return [...listed, ...loaded.map((tool) => ({ ...tool, loaded: true as const }))];
}

function decodeTool(raw: unknown, path: string, namespaces: Namespaces): Tool {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  if (type === "function") return decodeFunction(fields, path);
  if (type === "custom") return decodeCustom(fields, path);
  if (type.startsWith("web_search")) return decodeWebSearch(type, fields, path);
  const tool = isObject(raw) ? raw : {};
  const builtIn = namespaces.builtInName(type) && builtInTool(tool);
  if (!builtIn) {
    const means = meaningOf(tool);
    const unsent = means?.type === "mcp" && "server_description" in tool ? ["server_description"] : undefined;
    return { type: "native", dialect: "responses", name: type, raw: tool, path, ...withoutAbsent({ means, unsent }) };
  }
  const { name, description, schema } = builtIn;
  const native = { dialect: "responses", raw: tool };
  // The shell runs where the client is, whoever calls it. What the client adds to its environment is for this dialect.
  const { type: _local, ...added } = objectAt(tool, "environment") ?? {};
  if (Object.values(added).every((value) => value === null)) fields.skip("environment");
  return { type: "function", name, description, schema, native, path, ...extrasOf(fields) };
}

/**
 * What a tool does that other dialects have too. A search that the client runs itself, connectors, own containers and calls that must be
 * approved first have no counterpart.
 */
function meaningOf(raw: JsonObject): ToolMeaning | undefined {
  const fields = new Fields(raw);
  const type = fields.string("type");
  if (type === "tool_search") return raw["execution"] === "client" ? undefined : { type: "tool-search" };
  if (type === "code_interpreter") {
    const container = new Fields(fields.object("container"));
    const isPlain =
      container.string("type") === "auto" && container.rest() === undefined && fields.rest() === undefined;
    return isPlain ? { type: "code-execution" } : undefined;
  }
  if (type !== "mcp") return undefined;
  const [name, url] = [fields.string("server_label"), fields.string("server_url")];
  const authorization = fields.string("authorization");
  const filter = raw["allowed_tools"];
  const allowedTools = texts(Array.isArray(filter) ? filter : arrayAt(filter, "tool_names"));
  if (isObject(filter) && allowedTools === undefined) return undefined;
  const isUnasked = fields.string("require_approval") === "never";
  for (const read of ["server_description", "allowed_tools", "defer_loading"]) fields.skip(read);
  if (!isUnasked || fields.rest() !== undefined || name === undefined || url === undefined) return undefined;
  return { type: "mcp", name, url, ...withoutAbsent({ authorization, allowedTools }) };
}

const isDeferred = (fields: Fields): { deferred?: true } =>
  fields.boolean("defer_loading") === true ? { deferred: true } : {};

/** The namespace's own fields are stored with its first tool. */
function decodeNamespace(raw: JsonObject, path: string, namespaces: Namespaces): Tool[] {
  const { tools: _tools, ...shell } = raw;
  const namespace = stringAt(raw, "name") ?? "";
  const about = stringAt(raw, "description");
  return arrayAt(raw, "tools").map((inner, index) => {
    const tool = decodeTool(inner, `${path}.tools[${index}]`, namespaces);
    if (tool.type !== "function" && tool.type !== "custom") return tool;
    const described = [index === 0 ? about : undefined, tool.description].filter((text) => text !== undefined);
    const named = {
      name: namespaces.flatName(namespace, tool.name),
      ...(described.length === 0 ? {} : { description: described.join("\n\n") }),
    };
    const native = { dialect: "responses", raw: { ...shell, tools: [inner] } };
    return tool.type === "function" ? { ...tool, ...named, native } : { ...tool, ...named };
  });
}

/** Only this protocol enforces a schema by default. Other providers are not asked to (R17). */
function decodeFunction(fields: Fields, path: string): FunctionTool {
  const name = fields.string("name") ?? "";
  const description = fields.string("description");
  const schema = fields.object("parameters");
  const strict = fields.boolean("strict");
  const callers = fields.array("allowed_callers");
  return {
    type: "function",
    name,
    ...withoutAbsent({ description, schema, strict, callers }),
    ...isDeferred(fields),
    path,
    ...extrasOf(fields),
  };
}

function decodeCustom(fields: Fields, path: string): CustomTool {
  const name = fields.string("name") ?? "";
  const description = fields.string("description");
  const format = decodeToolFormat(fields.object("format"));
  const callers = fields.array("allowed_callers");
  return {
    type: "custom",
    name,
    ...withoutAbsent({ description, format, callers }),
    ...isDeferred(fields),
    path,
    ...extrasOf(fields),
  };
}

/** The canon has a separate object for the grammar, like chat. Here it is flat. */
function decodeToolFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format?.["type"] !== "grammar") return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

const CONTEXT_SIZES = ["low", "medium", "high"] as const;
const PLACES = ["city", "region", "country", "timezone"] as const;

/** The search's version and specific settings stay in the extras (R26). */
function decodeWebSearch(type: string, fields: Fields, path: string): WebSearchTool {
  const filters = new Fields(fields.object("filters"));
  const allowedDomains = texts(filters.array("allowed_domains"));
  const blockedDomains = texts(filters.array("blocked_domains"));
  const size = fields.string("search_context_size");
  const contextSize = CONTEXT_SIZES.find((known) => known === size);
  const location = decodeLocation(fields.object("user_location"));
  const left = filters.rest();
  const extras = {
    ...(type === "web_search" ? {} : { type }),
    ...fields.rest(),
    ...withoutAbsent({ filters: left }),
  };
  return {
    type: "web-search",
    ...withoutAbsent({ allowedDomains, blockedDomains, contextSize, location }),
    path,
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
  };
}

function texts(values: readonly unknown[] | undefined): string[] | undefined {
  const found = values?.filter((value) => typeof value === "string");
  return found?.length ? found : undefined;
}

function decodeLocation(location: JsonObject | undefined): WebSearchTool["location"] {
  if (location === undefined) return undefined;
  const named = PLACES.flatMap((key) => {
    const value = stringAt(location, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

function extrasOf(fields: Fields): { extras?: JsonObject } {
  const extras = fields.rest();
  return extras === undefined ? {} : { extras };
}

/** Undefined for a choice of hosted tools, which other protocols cannot express. */
export function decodeToolChoice(choice: unknown, namespaces: Namespaces): ToolChoice | undefined {
  if (choice === "none" || choice === "auto") return { type: choice };
  if (choice === "required") return { type: "any" };
  const nameOf = (value: unknown): string | undefined => {
    const name = stringAt(value, "name");
    if (name === undefined) return namespaces.builtInName(stringAt(value, "type"));
    return namespaces.flatName(stringAt(value, "namespace"), name);
  };
  const type = stringAt(choice, "type");
  if (type === "allowed_tools") {
    const mode = stringAt(choice, "mode") === "required" ? "any" : "auto";
    return { type: "allowed", mode, names: arrayAt(choice, "tools").flatMap((tool) => nameOf(tool) ?? []) };
  }
  const name = type === "function" || type === "custom" ? nameOf(choice) : namespaces.builtInName(type);
  return name === undefined ? undefined : { type: "tool", name };
}
