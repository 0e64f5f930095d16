import { type JsonObject, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CallSettings, CanonCall, Extra, OutputFormat, Turn } from "../../../canon/call.ts";
import { distinctCallIds } from "../../../canon/calls/distinct-call-ids.ts";
import { GatewayError } from "../../../canon/error.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Part, TextPart } from "../../../canon/part.ts";
import type { Tool } from "../../../canon/tool.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { decodeCache } from "../cache.ts";
import { decodeContent } from "../content.ts";
import { addedTool } from "../native-words.ts";
import { CONTEXT_MANAGEMENT, decodeContextManagement } from "./context-management.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { FIELD as MCP_SERVERS, mcpServers, serversWithoutToolset } from "./mcp-servers.ts";
import { decodeReasoning } from "./reasoning.ts";
import { decodeToolChoice } from "./tool-choice.ts";
import { decodeTool } from "./tools.ts";

/** Fields that the gateway handles itself. */
const GATEWAY_FIELDS = ["model", "stream", "stream_options", "usage", ...ROUTING_FIELDS];

/** The path of each setting in a request, from which its value is read. */
const SETTING_PATHS = {
  maxOutputTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
} as const;

/**
 * Decodes a client's request. In its normal form, to which encoding a decoded request returns: content and system are arrays of
 * blocks without empty ones, each turn is one message with tool results first, no field is null or has its default value, the
 * older `output_format` is `output_config.format`, and system messages are user text in tags.
 */
export function decodeRequest(body: JsonObject): CanonCall {
  const fields = new Fields(body);
  fields.skip(...GATEWAY_FIELDS);
  if (body["thread"]) refuseThread();
  const extras: Extra[] = [];
  const { settings, paths } = decodeSettings(fields, extras);
  const outputConfig = fields.object("output_config");
  const output = new Fields(outputConfig);
  const reasoning = decodeReasoning(fields.object("thinking"), output.string("effort"));
  const format =
    decodeFormat(output, outputConfig, "output_config.format") ?? decodeFormat(fields, body, "output_format");
  extras.push(...reasoning.extras, ...leftOver(output, "output_config"));
  const { toolChoice, parallelTools } = decodeToolChoice(fields.object("tool_choice"));
  const { system, others } = decodeSystem(fields);
  const turns = distinctCallIds([...others, ...(fields.array("messages") ?? []).map(decodeTurn)]);
  const servers = mcpServers(body);
  const listed = (fields.array("tools") ?? []).map((tool, index) => decodeTool(tool, `tools[${index}]`, servers));
  const tools = [...listed, ...serversWithoutToolset(servers, body), ...addedTools(turns)];
  const { cache } = decodeCache(fields);
  const { compaction, ...managed } = decodeContextManagement(body);
  for (const [key, value] of Object.entries(fields.rest() ?? {})) {
    const crosses = key === CONTEXT_MANAGEMENT ? managed.crosses : key === MCP_SERVERS ? MCP : undefined;
    extras.push({ keys: [key], value, ...withoutAbsent({ crosses }) });
  }
  return withoutAbsent({
    dialect: "messages",
    fieldNames: FIELD_NAMES,
    system,
    turns,
    tools,
    ...settings,
    toolChoice,
    parallelTools,
    reasoning: reasoning.reasoning,
    format: format?.value,
    compaction,
    cache,
    paths: withoutAbsent({
      ...paths,
      toolChoice: toolChoice && "tool_choice",
      parallelTools: parallelTools === undefined ? undefined : "tool_choice.disable_parallel_tool_use",
      format: format?.path,
      compaction: compaction && CONTEXT_MANAGEMENT,
      cache: cache && "cache_control",
    }),
    extras,
  });
}

/**
 * Rejects a conversation that the host is to store: later requests contain only what is new, so the field cannot be dropped. The
 * details are those by which clients recognise that they must send everything.
 */
function refuseThread(): never {
  throw new GatewayError(
    "unsupported_parameter",
    "thread is not supported for this model, because its provider's protocol does not store conversations; send the whole conversation without thread",
    { path: "thread", upstreamDetails: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
  );
}

function decodeSettings(fields: Fields, extras: Extra[]): { settings: CallSettings; paths: CanonCall["paths"] } {
  const settings: CallSettings = {};
  const paths: { -readonly [K in keyof CanonCall["paths"]]: CanonCall["paths"][K] } = {};
  for (const name of Object.keys(SETTING_PATHS) as (keyof typeof SETTING_PATHS)[]) {
    const value = fields.number(SETTING_PATHS[name]);
    if (value === undefined) continue;
    settings[name] = value;
    paths[name] = SETTING_PATHS[name];
  }
  const stop = fields.array("stop_sequences")?.filter((word) => typeof word === "string");
  if (stop !== undefined && stop.length > 0) {
    settings.stop = stop;
    paths.stop = "stop_sequences";
  }
  const metadata = new Fields(fields.object("metadata"));
  const userId = metadata.string("user_id");
  if (userId !== undefined) {
    settings.userId = userId;
    paths.userId = "metadata.user_id";
  }
  extras.push(...leftOver(metadata, "metadata"));
  return { settings, paths };
}

/** Tools that blocks of the conversation define (H51). */
function addedTools(turns: readonly Turn[]): Tool[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const definition = part.type === "native" && part.name === "tool_addition" ? addedTool(part.raw) : undefined;
      if (definition === undefined) return [];
      return [{ ...decodeTool(definition, `${part.path}.tool.definition`), loaded: true as const }];
    }),
  );
}

/** Tools carry the servers; a tool that cannot be sent is noted itself. */
const MCP = { as: "mcp" as const, without: [] };

const leftOver = (fields: Fields, name: string): Extra[] =>
  Object.entries(fields.rest() ?? {}).map(([key, value]) => ({ keys: [name, key], value }));

/**
 * The first hosts called `output_config.format` `output_format`, and older clients still do. A format other than a schema stays
 * among the remaining fields.
 */
function decodeFormat(
  fields: Fields,
  object: JsonObject | undefined,
  path: string,
): { value: OutputFormat; path: string } | undefined {
  const key = path.split(".").at(-1) ?? path;
  const format = objectAt(object, key);
  const schema = objectAt(format, "schema");
  if (format?.["type"] !== "json_schema" || schema === undefined) return undefined;
  fields.skip(key);
  return { value: { type: "schema", schema }, path };
}

/** Anything but text in a system prompt is left to this dialect's hosts, as a separate turn. */
function decodeSystem(fields: Fields): { system: TextPart[]; others: Turn[] } {
  const parts = decodeContent(fields.take("system"), "system");
  const others = parts.filter((part) => part.type !== "text");
  return {
    system: parts.filter((part) => part.type === "text"),
    others: others.length === 0 ? [] : [{ role: "system", parts: others, path: "system" }],
  };
}

function decodeTurn(value: unknown, index: number): Turn {
  const path = `messages[${index}]`;
  const fields = new Fields(value);
  const word = fields.string("role");
  const role: Turn["role"] = word === "assistant" || word === "system" ? word : "user";
  const parts: Part[] = decodeContent(fields.take("content"), `${path}.content`);
  return withoutAbsent({ role, parts, path, extras: fields.rest() });
}
