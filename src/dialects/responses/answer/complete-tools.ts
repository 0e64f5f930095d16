import { isObject, type JsonObject } from "../../../base/json.ts";

const FUNCTION_MEMBERS = ["description", "parameters", "strict"] as const;

/** Tools as a response repeats them: missing members of a function are null. Returns the same list if nothing is missing. */
export function completeTools(tools: readonly unknown[]): readonly unknown[] {
  const isWhole = (tool: unknown): boolean =>
    !isObject(tool) || tool["type"] !== "function" || FUNCTION_MEMBERS.every((member) => member in tool);
  if (tools.every(isWhole)) return tools;
  const absent = Object.fromEntries(FUNCTION_MEMBERS.map((member) => [member, null]));
  return tools.map((tool) => (isWhole(tool) ? tool : { ...absent, ...(tool as JsonObject) }));
}
