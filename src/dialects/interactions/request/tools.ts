import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { Fields } from "../../../canon/fields.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../../canon/tool.ts";
import { OWN_ORIGIN } from "../signature.ts";

export const SEARCH = "google_search";

/** The search types that every provider's web search stands for. */
const WEB = "web_search";

export function decodeTools(tools: readonly unknown[]): Tool[] {
  return tools.flatMap((tool, index) => (isObject(tool) ? [decodeTool(tool, `tools[${index}]`)] : []));
}

function decodeTool(tool: JsonObject, path: string): Tool {
  const type = stringAt(tool, "type") ?? "";
  if (type === "function") return decodeFunction(tool, path);
  if (type !== SEARCH) return { type: "native", dialect: OWN_ORIGIN, name: type, raw: tool, path };
  const fields = new Fields(tool);
  fields.skip("type");
  const types = fields.peek("search_types");
  if (Array.isArray(types) && types.every((one) => one === WEB)) fields.skip("search_types");
  const extras = fields.rest();
  return { type: "web-search", path, ...withoutAbsent({ extras }) };
}

function decodeFunction(tool: JsonObject, path: string): FunctionTool {
  const fields = new Fields(tool);
  fields.skip("type");
  const name = fields.string("name") ?? "";
  const description = fields.string("description");
  const schema = fields.object("parameters");
  const extras = fields.rest();
  return { type: "function", name, path, ...withoutAbsent({ description, schema, extras }) };
}

/** A word, or a mode with the names of the allowed functions. */
export function decodeToolChoice(choice: unknown): ToolChoice | undefined {
  if (typeof choice === "string") return choiceOf(choice, []);
  const allowed = isObject(choice) ? choice["allowed_tools"] : undefined;
  if (!isObject(allowed)) return undefined;
  const { tools } = allowed;
  const names = (Array.isArray(tools) ? (tools as unknown[]) : []).filter((name) => typeof name === "string");
  return choiceOf(stringAt(allowed, "mode") ?? "auto", names);
}

/** Validated against the schemas, but free to answer without a call: the canon can express that only with names. */
function choiceOf(mode: string, names: readonly string[]): ToolChoice | undefined {
  const [only, ...others] = names;
  if (mode === "none") return { type: "none" };
  if (mode !== "any") return only === undefined ? { type: "auto" } : { type: "allowed", mode: "auto", names };
  if (only === undefined) return { type: "any" };
  return others.length === 0 ? { type: "tool", name: only } : { type: "allowed", mode: "any", names };
}
