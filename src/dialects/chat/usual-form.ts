import { isObject, type JsonObject } from "../../base/json.ts";
import { changedItems } from "../answer/changed-items.ts";

/** Name of a response schema without one. Providers reject a schema without a name. */
const SCHEMA_NAME = "answer";

/**
 * Expands short forms in a request at the compatible base URL that clients and providers use but the contract does not list: a tool or call
 * without a type, `tool_choice: "any"`, an image URL as a string, a schema without a name. Returns the same object if there are none.
 */
export function usualForm(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { messages, tools, tool_choice: choice, response_format: format } = body;
  const changes: Record<string, unknown> = {};
  if (Array.isArray(messages)) changes["messages"] = changedItems(messages, usualMessage);
  if (Array.isArray(tools)) changes["tools"] = changedItems(tools, withType);
  if (choice === "any") changes["tool_choice"] = "required";
  if (isObject(format)) changes["response_format"] = usualFormat(format);
  for (const key in changes) if (changes[key] !== body[key]) return { ...body, ...changes };
  return body;
}

function usualMessage(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { content, tool_calls: calls } = message;
  const parts = Array.isArray(content) ? changedItems(content, usualPart) : content;
  const typed = Array.isArray(calls) ? changedItems(calls, withType) : calls;
  if (parts === content && typed === calls) return message;
  return {
    ...message,
    ...(parts === content ? {} : { content: parts }),
    ...(typed === calls ? {} : { tool_calls: typed }),
  };
}

function usualPart(part: unknown): unknown {
  if (!isObject(part) || part["type"] !== "image_url" || typeof part["image_url"] !== "string") return part;
  return { ...part, image_url: { url: part["image_url"] } };
}

/** A function, or a call of one: without a type nothing else is possible. */
function withType(tool: unknown): unknown {
  if (!isObject(tool) || (tool["type"] ?? undefined) !== undefined || !isObject(tool["function"])) return tool;
  const { type: _absent, ...rest } = tool;
  return { type: "function", ...rest };
}

function usualFormat(format: JsonObject): JsonObject {
  const schema = format["json_schema"];
  if (format["type"] !== "json_schema" || !isObject(schema) || (schema["name"] ?? undefined) !== undefined)
    return format;
  return { ...format, json_schema: { ...schema, name: SCHEMA_NAME } };
}
