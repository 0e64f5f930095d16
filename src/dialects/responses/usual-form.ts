import { isObject, type JsonObject } from "../../base/json.ts";
import { changedItems } from "../answer/changed-items.ts";

/** Name of a response schema without one. Providers reject a schema without a name. */
const SCHEMA_NAME = "answer";

/**
 * Expands short forms in a request at the compatible base URL: a function without a type, `tool_choice: "any"`, and a schema without a
 * name. Returns the same object if there are none.
 */
export function usualForm(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { tools, tool_choice: choice, text } = body;
  const changes: Record<string, unknown> = {};
  if (Array.isArray(tools)) changes["tools"] = changedItems(tools, usualTool);
  if (choice === "any") changes["tool_choice"] = "required";
  if (isObject(text)) changes["text"] = usualText(text);
  for (const key in changes) if (changes[key] !== body[key]) return { ...body, ...changes };
  return body;
}

function usualTool(tool: unknown): unknown {
  if (!isObject(tool) || (tool["type"] ?? undefined) !== undefined || typeof tool["name"] !== "string") return tool;
  const { type: _absent, ...rest } = tool;
  return { type: "function", ...rest };
}

function usualText(text: JsonObject): JsonObject {
  const format = text["format"];
  if (!isObject(format) || format["type"] !== "json_schema" || (format["name"] ?? undefined) !== undefined) return text;
  return { ...text, format: { ...format, name: SCHEMA_NAME } };
}
