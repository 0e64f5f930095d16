import { isObject, type JsonObject } from "../../base/json.ts";
import { type Billable, CODE_EXECUTION, MCP, WEB_FETCH, WEB_SEARCH } from "../../canon/billable.ts";

const NONE: readonly Billable[] = [];

/** Tools that the caller runs, in every protocol that identifies tools by `type`. */
const BY_THE_CALLER: ReadonlySet<unknown> = new Set([undefined, null, "function", "custom"]);

/** Reads one tool of a list: its name, including its variant, and its limit. */
export type ReadTool = (tool: JsonObject, type: string) => Pick<Billable, "name" | "most">;

/** The tools of a list that a host runs, or might run. Requests with only functions allocate nothing. */
export function billableTools(tools: unknown, path: string, read: ReadTool): readonly Billable[] {
  if (!Array.isArray(tools)) return NONE;
  let found: Billable[] | undefined;
  for (let index = 0; index < tools.length; index++) {
    const tool: unknown = tools[index];
    if (!isObject(tool) || BY_THE_CALLER.has(tool["type"])) continue;
    found ??= [];
    for (const one of billableTool(tool, `${path}[${index}]`, read)) found.push(one);
  }
  return found ?? NONE;
}

/** The same for one tool. */
export function billableTool(tool: JsonObject, path: string, read: ReadTool): readonly Billable[] {
  const { type } = tool;
  if (BY_THE_CALLER.has(type)) return NONE;
  if (type === "namespace") return billableTools(tool["tools"], `${path}.tools`, read);
  return [{ kind: "tool", path: `${path}.type`, ...read(tool, String(type)), ...crossing(type) }];
}

/** How the types of tools begin that hosts of other dialects have under another name. */
const CROSSINGS: readonly (readonly [start: string, crossesAs: string])[] = [
  [WEB_SEARCH, WEB_SEARCH],
  ["web_fetch_", WEB_FETCH],
  ["code_execution_", CODE_EXECUTION],
  ["code_interpreter", CODE_EXECUTION],
  ["mcp", MCP],
];

function crossing(type: unknown): Pick<Billable, "crossesAs"> {
  const found = typeof type === "string" ? CROSSINGS.find(([start]) => type.startsWith(start)) : undefined;
  return found === undefined ? {} : { crossesAs: found[1] };
}

/** A tool that is not sent to hosts of other dialects. */
export const staying = ({ crossesAs: _crossesAs, ...tool }: Billable): Billable => tool;
