import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { fieldPath } from "../../../canon/field-names.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { FunctionTool, NativeTool, Tool, ToolMeaning, WebSearchTool } from "../../../canon/tool.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import { freeTextFunction } from "../../request/free-text-tool.ts";
import { lowerEnforcedSchema } from "../../request/lower-enforced-schema.ts";
import { noteUnsentSettings } from "../../request/note-unsent-settings.ts";
import { isAdvisor, notOffered } from "../advisor.ts";
import { type CacheMarks, decodeCache } from "../cache.ts";
import { WEB_SEARCH } from "../search.ts";
import { builtInTool } from "./built-in-tools.ts";
import { encodeToolset, type McpServers, meaningOfMcp } from "./mcp-servers.ts";

const WEB_SEARCH_TYPE = "web_search_20250305";
const TOOL_SEARCH = { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" };

export function decodeTool(value: unknown, path: string, servers?: McpServers): Tool {
  const raw = isObject(value) ? value : {};
  const type = stringAt(raw, "type") ?? "custom";
  const fields = new Fields(raw);
  const cache = decodeCache(fields);
  if (type === "custom") return decodeFunction(fields, { path, ...cache });
  if (/^web_search_\d+$/.test(type)) return decodeWebSearch(fields, { path, ...cache });
  const { cache_control: _cache, ...kept } = raw;
  const name = stringAt(raw, "name") ?? type;
  const builtIn = builtInTool(type, raw);
  if (builtIn === undefined) {
    const native = { type: "native" as const, dialect: "messages", name, raw: kept, path, ...cache };
    return { ...native, ...meaningOf(type, kept, servers) };
  }
  return { type: "function", name, ...builtIn, native: { dialect: "messages", raw: kept }, path, ...cache };
}

/** Settings without which a tool does the same. Limits of what it may read must not get lost on the way to another dialect. */
const HARMLESS: ReadonlySet<string> = new Set(["allowed_callers", "citations", "max_uses", "max_content_tokens"]);

function meaningOf(
  type: string,
  raw: JsonObject,
  servers: McpServers | undefined,
): { means?: ToolMeaning; unsent?: string[] } {
  if (/^tool_search_tool_(regex|bm25)(_\d+)?$/.test(type)) return { means: { type: "tool-search" } };
  if (type === "mcp_toolset") {
    return withoutAbsent({ means: meaningOfMcp(servers?.get(stringAt(raw, "mcp_server_name") ?? ""), raw) });
  }
  const kind = /^web_fetch_\d+$/.test(type)
    ? ("web-fetch" as const)
    : /^code_execution_\d+$/.test(type)
      ? ("code-execution" as const)
      : undefined;
  const settings = Object.keys(raw).filter((key) => key !== "type" && key !== "name" && raw[key] !== null);
  if (kind === undefined || !settings.every((setting) => HARMLESS.has(setting))) return {};
  return { means: { type: kind }, ...(settings.length === 0 ? {} : { unsent: settings }) };
}

type Common = Pick<Tool, "path" | "cache">;

function decodeFunction(fields: Fields, common: Common): FunctionTool {
  fields.skip("type");
  const name = fields.string("name") ?? "";
  const description = fields.string("description");
  const schema = fields.object("input_schema");
  const strict = fields.boolean("strict");
  const deferred = fields.boolean("defer_loading") === true ? (true as const) : undefined;
  const callers = fields.array("allowed_callers");
  const extras = fields.rest();
  return withoutAbsent({
    type: "function" as const,
    name,
    description,
    schema,
    strict,
    deferred,
    callers,
    ...common,
    extras,
  });
}

/** A newer version's date goes to the extras: what it adds is specific to this dialect. */
function decodeWebSearch(fields: Fields, common: Common): WebSearchTool {
  fields.skip("name");
  const type = fields.string("type");
  const allowedDomains = strings(fields.array("allowed_domains"));
  const blockedDomains = strings(fields.array("blocked_domains"));
  const maxUses = fields.number("max_uses");
  const location = decodeLocation(fields.object("user_location"));
  const rest = { ...(type === WEB_SEARCH_TYPE ? {} : { type }), ...fields.rest() };
  return withoutAbsent({
    type: "web-search" as const,
    allowedDomains,
    blockedDomains,
    maxUses,
    location,
    ...common,
    ...(Object.keys(rest).length === 0 ? {} : { extras: rest }),
  });
}

function strings(values: readonly unknown[] | undefined): string[] | undefined {
  const found = values?.filter((value) => typeof value === "string");
  return found?.length ? found : undefined;
}

function decodeLocation(value: JsonObject | undefined): WebSearchTool["location"] {
  if (value === undefined) return undefined;
  const named = (["city", "region", "country", "timezone"] as const).flatMap((key) => {
    const text = stringAt(value, key);
    return text === undefined ? [] : [[key, text]];
  });
  return Object.fromEntries(named);
}

interface ToolTarget {
  call: CanonCall;
  /** The host supports `strict`. */
  strict: boolean;
  /** The host calls remote servers. */
  mcp: boolean;
  /** The host runs tools besides web search. */
  hosted: boolean;
  upstreamName: EncodeRequestContext["upstreamName"];
  notes: Notes;
  marks: CacheMarks;
}

/** Returns no block if the target has no such tool. */
export function encodeTool(tool: Tool, target: ToolTarget): JsonObject[] {
  const { call, notes, marks } = target;
  const own = call.dialect === "messages" ? tool.extras : undefined;
  const marked = (block: JsonObject) => [
    marks.put({ ...block, ...own }, tool.cache, fieldPath(call.fieldNames, tool, "cache")),
  ];
  switch (tool.type) {
    case "function":
      return marked(encodeFunction(tool, target));
    case "custom":
      return marked(
        encodeFunction(freeTextFunction(tool, fieldPath(call.fieldNames, tool.path, "format"), notes), target),
      );
    case "web-search":
      return marked(encodeWebSearch(tool, target));
    case "native":
      if (tool.dialect === "messages") return encodeOwn(tool, target).flatMap(marked);
      return encodeHosted(tool, target).flatMap(marked);
    default:
      return tool satisfies never;
  }
}

function encodeOwn({ raw, path }: NativeTool, { upstreamName, notes }: ToolTarget): JsonObject[] {
  if (upstreamName === undefined || !isAdvisor(stringAt(raw, "type"))) return [raw];
  const model = upstreamName(stringAt(raw, "model") ?? "");
  if (model === undefined) notes.dropped(path, notOffered(stringAt(raw, "model") ?? ""));
  return model === undefined ? [] : [{ ...raw, model }];
}

/** The counterparts of other dialects' tools, in the first version of each. */
const HOSTED: Readonly<Partial<Record<ToolMeaning["type"], JsonObject>>> = {
  "web-fetch": { type: "web_fetch_20250910", name: "web_fetch" },
  "code-execution": { type: "code_execution_20250522", name: "code_execution" },
};

function encodeHosted(tool: NativeTool, { notes, hosted, mcp }: ToolTarget): JsonObject[] {
  const { means } = tool;
  if (means?.type === "tool-search") return [TOOL_SEARCH];
  if (means?.type === "mcp" && mcp) {
    noteUnsentSettings(tool, notes);
    return [encodeToolset(means)];
  }
  const block = means === undefined ? undefined : HOSTED[means.type];
  if (block !== undefined && hosted) {
    noteUnsentSettings(tool, notes);
    return [block];
  }
  const reason =
    block === undefined ? `this protocol has no tool like ${tool.name}` : "this provider does not run tools";
  notes.dropped(tool.path, reason);
  return [];
}

function encodeFunction(tool: FunctionTool, { call, strict, notes }: ToolTarget): JsonObject {
  if (tool.native?.dialect === "messages") return tool.native.raw;
  if (tool.native !== undefined) notes.approximated(tool.path, "this provider supports it only as a plain function");
  const { name, description } = tool;
  if (tool.strict && !strict) {
    notes.dropped(fieldPath(call.fieldNames, tool.path, "strict"), "this provider does not support strict schemas");
  }
  const kept = tool.strict === true && strict;
  const object = objectSchema(tool.schema);
  return withoutAbsent({
    name,
    description,
    input_schema: kept && call.dialect !== "messages" ? lowerEnforcedSchema(object, tool.path, notes) : object,
    ...(kept ? { strict: true } : {}),
    ...(tool.deferred ? { defer_loading: true } : {}),
    ...(call.dialect === "messages" ? { allowed_callers: tool.callers } : {}),
  });
}

/** Upstreams reject an arguments schema that does not declare an object. */
const objectSchema = (schema: JsonObject | undefined): JsonObject =>
  schema === undefined ? { type: "object", properties: {} } : "type" in schema ? schema : { type: "object", ...schema };

function encodeWebSearch(tool: WebSearchTool, { call, notes }: ToolTarget): JsonObject {
  const { allowedDomains, maxUses, location, path } = tool;
  const blockedDomains = allowedDomains === undefined ? tool.blockedDomains : undefined;
  if (tool.blockedDomains !== undefined && blockedDomains === undefined) {
    const where = fieldPath(call.fieldNames, path, "blockedDomains");
    notes.dropped(where, "this provider accepts either allowed or blocked domains, not both");
  }
  if (tool.contextSize !== undefined) {
    const where = fieldPath(call.fieldNames, path, "contextSize");
    notes.dropped(where, "this provider decides how much of each page it reads");
  }
  return withoutAbsent({
    type: WEB_SEARCH_TYPE,
    name: WEB_SEARCH,
    allowed_domains: allowedDomains,
    blocked_domains: blockedDomains,
    max_uses: maxUses,
    ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
  });
}
