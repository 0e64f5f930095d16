import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { NativeTool, ToolMeaning } from "../../../canon/tool.ts";

/** The beta that hosts require for remote servers. */
export const MCP_BETA = "mcp-client-2025-11-20";

/** The servers that a request names, by name. */
export type McpServers = ReadonlyMap<string, JsonObject>;

type Mcp = Extract<ToolMeaning, { type: "mcp" }>;

export const FIELD = "mcp_servers";

export const mcpServers = (body: JsonObject): McpServers =>
  new Map(
    arrayAt(body, FIELD).flatMap((server) => (isObject(server) ? [[stringAt(server, "name") ?? "", server]] : [])),
  );

/** Servers without a toolset, whose tools older requests configure in the server itself. The list of servers restores them. */
export function serversWithoutToolset(servers: McpServers, body: JsonObject): NativeTool[] {
  const listed = new Set(arrayAt(body, "tools").map((tool) => stringAt(tool, "mcp_server_name")));
  return [...servers.values()].flatMap((server, index): NativeTool[] => {
    const name = stringAt(server, "name") ?? "";
    const means = listed.has(name) ? undefined : meaningOfMcp(server, undefined);
    if (means === undefined) return [];
    return [
      { type: "native", dialect: "messages", name, raw: server, path: `${FIELD}[${index}]`, loaded: true, means },
    ];
  });
}

/** Undefined if the toolset says more than which tools may be called. */
export function meaningOfMcp(server: JsonObject | undefined, toolset: JsonObject | undefined): Mcp | undefined {
  const name = stringAt(server, "name");
  const url = stringAt(server, "url");
  if (name === undefined || url === undefined || toolset?.["tools"]) return undefined;
  const authorization = stringAt(server, "authorization_token");
  const named = toolset === undefined ? namedByServer(server) : namedByToolset(toolset);
  return named === undefined ? undefined : withoutAbsent({ type: "mcp" as const, name, url, authorization, ...named });
}

type Named = Pick<Mcp, "allowedTools">;

function namedByServer(server: JsonObject | undefined): Named | undefined {
  const settings = objectAt(server, "tool_configuration");
  if (settings?.["enabled"] === false) return undefined;
  const names = arrayAt(settings, "allowed_tools").filter((name) => typeof name === "string");
  return names.length === 0 ? {} : { allowedTools: names };
}

/** A list of the enabled tools, if all others are disabled. Single tools cannot be disabled elsewhere. */
function namedByToolset(toolset: JsonObject): Named | undefined {
  const configs = Object.entries(objectAt(toolset, "configs") ?? {});
  const isEnabled = (config: unknown) => objectAt({ config }, "config")?.["enabled"] !== false;
  if (objectAt(toolset, "default_config")?.["enabled"] !== false)
    return configs.every(([, one]) => isEnabled(one)) ? {} : undefined;
  return { allowedTools: configs.filter(([, one]) => isObject(one) && one["enabled"] === true).map(([name]) => name) };
}

export const encodeToolset = ({ name, allowedTools }: Mcp): JsonObject => ({
  type: "mcp_toolset",
  mcp_server_name: name,
  ...(allowedTools === undefined
    ? {}
    : {
        default_config: { enabled: false },
        configs: Object.fromEntries(allowedTools.map((tool) => [tool, { enabled: true }])),
      }),
});

export const encodeServer = ({ name, url, authorization }: Mcp): JsonObject =>
  withoutAbsent({ type: "url", name, url, authorization_token: authorization });
