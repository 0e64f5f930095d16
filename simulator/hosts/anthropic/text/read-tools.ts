import type { Json, JsonObject } from "../../../json.ts";
import type { Prompt, Tool } from "../../../text/prompt.ts";
import { requireArray, requireObject, requireOneOf, requireString } from "./check.ts";
import { invalid } from "./errors.ts";
import { readCache } from "./read-blocks.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SERVER_TOOL =
  /^(?:web_search|web_fetch|code_execution|memory|tool_search_tool_\w+|mcp_toolset|computer|advisor)(?:_\d{8})?$/;

const BASH: JsonObject = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const TEXT_EDITOR: JsonObject = {
  type: "object",
  properties: { command: { type: "string", enum: ["view"] }, path: { type: "string" } },
  required: ["command", "path"],
};

function readCustomTool(tool: JsonObject, path: string): Tool {
  const name = requireString(tool.name, `${path}.custom.name`);
  if (!TOOL_NAME.test(name)) {
    throw invalid(`${path}.custom.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
  }
  const schema = requireObject(tool.input_schema, `${path}.custom.input_schema`);
  requireOneOf(schema.type, ["object"], `${path}.custom.input_schema.type`);
  const description = typeof tool.description === "string" ? tool.description : "";
  return { name, description, schema, freeform: false, ...readCache(tool, path) };
}

interface ReadTools {
  tools: Tool[];
  search: boolean;
}

export function readTools(value: Json | undefined): ReadTools {
  const read: ReadTools = { tools: [], search: false };
  if (value === undefined || value === null) return read;
  for (const [at, item] of requireArray(value, "tools").entries()) {
    const path = `tools.${at}`;
    const tool = requireObject(item, path);
    const type = tool.type ?? "custom";
    if (type === "custom") {
      read.tools.push(readCustomTool(tool, path));
    } else if (typeof type === "string" && /^bash_\d{8}$/.test(type)) {
      read.tools.push({ name: "bash", description: "", schema: BASH, freeform: false, ...readCache(tool, path) });
    } else if (typeof type === "string" && /^text_editor_\d{8}$/.test(type)) {
      const name = requireString(tool.name, `${path}.name`);
      read.tools.push({ name, description: "", schema: TEXT_EDITOR, freeform: false, ...readCache(tool, path) });
    } else if (typeof type === "string" && SERVER_TOOL.test(type)) {
      if (type.startsWith("web_search_")) read.search = true;
    } else {
      throw invalid(path, `Input tag '${String(type)}' found using 'type' does not match any of the expected tags`);
    }
  }
  const names = read.tools.map((tool) => tool.name);
  if (new Set(names).size < names.length) throw invalid("tools", "Tool names must be unique.");
  return read;
}

export function readChoice(
  value: Json | undefined,
  tools: readonly Tool[],
  offered: boolean,
): Pick<Prompt, "choice" | "parallel"> {
  if (value === undefined || value === null) return { choice: { mode: "auto" }, parallel: true };
  const choice = requireObject(value, "tool_choice");
  if (!offered) throw invalid("", "tool_choice may only be specified while providing tools");
  const type = requireOneOf(choice.type, ["auto", "any", "tool", "none"], "tool_choice.type");
  const parallel = choice.disable_parallel_tool_use !== true;
  if (type === "auto" || type === "none") return { choice: { mode: type }, parallel };
  if (type === "any") return { choice: { mode: "required" }, parallel };
  const name = requireString(choice.name, "tool_choice.tool.name");
  if (!tools.some((tool) => tool.name === name)) {
    throw invalid("", `Tool '${name}' not found in provided tools`);
  }
  return { choice: { mode: "required", names: [name] }, parallel };
}
